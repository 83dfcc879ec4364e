// Which resource an id belongs to: ids begin with the prefix of theirs.

import type { ResourceModel } from "../../model/model.ts";
import type { Api } from "../schema/schema.ts";

/** The resource whose ids look like this one, where its rows can be read by id. */
export function resourceOfId({ typeOf }: Api, id: string): ResourceModel | undefined {
  const prefix = id.slice(0, Math.max(0, id.lastIndexOf("_")));
  return typeOf.keys().find(({ idPrefix, operations }) => idPrefix === prefix && operations.has("get"));
}
