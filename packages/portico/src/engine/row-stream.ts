// Reads many rows for a caller: with the scopes and policies of a list, but without its pages.

import type { Caller } from "../declare/caller.ts";
import type { InputError, Problem } from "../errors.ts";
import { isId } from "../lib/id.ts";
import type { Value } from "../query/condition.ts";
import type { Position, Read } from "../query/read.ts";
import { select } from "../query/selection.ts";
import type { RowStream, StreamOptions } from "../store/row-stream.ts";
import type { Store } from "../store/store.ts";
import { requireScope, withPolicies } from "./authorize.ts";
import { InvalidInput } from "./validation/invalid-input.ts";

export interface StreamRequest
  extends StreamOptions,
    Pick<Read, "resource" | "selection" | "conditions" | "words" | "sort"> {
  /** The maximum number of rows. */
  readonly limit: number;
  /** The id of a row: only those behind it. */
  readonly after: string | undefined;
}

/** @throws Problem */
export async function streamRows(store: Store, caller: Caller, request: StreamRequest): Promise<RowStream> {
  const { resource, selection, conditions, words, sort, limit, after } = request;
  requireScope(caller, resource.scopes.read);
  const position = after === undefined ? undefined : await positionOf(store, caller, request, after);
  // With a cursor, statements read one row more than the limit.
  const page = { style: "cursor", limit: limit - 1, position, isBackward: false } as const;
  const read = withPolicies(caller, { resource, selection, conditions, words, sort, page });
  return store.stream(caller.tenantId, read, request);
}

/** The position of a row. Sorted by id, the row need not exist. @throws Problem `validation_error` */
async function positionOf(
  store: Store,
  caller: Caller,
  { resource, sort }: StreamRequest,
  id: string,
): Promise<Position> {
  const attributes = sort.map(({ attribute }) => attribute);
  if (!isId(id)) throw unknownRow("must be the id of a row");
  if (attributes.every(({ name }) => name === "id")) return { values: attributes.map(() => id), id };
  const read = withPolicies(caller, { resource, selection: select(attributes), id, conditions: [] });
  const text = await store.get(caller.tenantId, read);
  if (text === undefined)
    throw unknownRow("must be the id of a row that exists, unless rows are sorted by id");
  // The database built the text from a selection that contains the attributes.
  const row = JSON.parse(text) as Readonly<Record<string, Value>>;
  return { values: attributes.map(({ name }) => row[name] ?? null), id };
}

function unknownRow(text: string): Problem {
  const error: InputError = { field: "after", issue: "reference", text };
  return new InvalidInput([error]);
}
