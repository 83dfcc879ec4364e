// The schema in the schema definition language.

import { printSchema } from "graphql";
import type { Model } from "../../model/model.ts";
import { buildApi } from "./schema.ts";

export function printApi(model: Model): string {
  return printSchema(buildApi(model).schema);
}
