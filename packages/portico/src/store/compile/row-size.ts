// How much of a row a search has to read in order to check it for words.

import { sql } from "kysely";
import { isJson } from "../../declare/field.ts";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import type { Dialect } from "../dialect.ts";
import { storedAttributes } from "../schema/resource-table.ts";
import { searchColumn } from "../schema/table.ts";
import type { Expression } from "./input.ts";

/** A character takes at most this many bytes in UTF-8. */
const maxCharacterBytes = 4;
/** Texts that are declared shorter do not count. */
const minLongBytes = 1_000;
/** SQLite reads past this many bytes of another column in the time in which it searches one byte for words. */
const othersFactor = 8;

/**
 * The condition that the row `r` has more search words than this many bytes, or other texts that take as long to read.
 * The database stores the lengths apart from the texts, so it is evaluated without reading them.
 *
 * @returns undefined without such a number, or if no row of the resource can be longer
 */
export function isLongRow(
  { name }: Dialect,
  resource: ResourceModel,
  maxBytes: number | undefined,
): Expression | undefined {
  if (maxBytes === undefined) return undefined;
  const isAlwaysShort = resource.search.reduce((bytes, each) => bytes + maxBytesOf(each), 0) <= maxBytes;
  // PostgreSQL stores long texts apart from the row. SQLite reads its columns in their order; the words are the last.
  const others = name === "sqlite" ? storedAttributes(resource).filter(isLong) : [];
  if (isAlwaysShort && others.length === 0) return undefined;
  const longer = (column: string, bytes: number): Expression =>
    sql`octet_length(${sql.ref(`r.${column}`)}) > ${sql.lit(bytes)}`;
  const conditions = [
    longer(searchColumn, maxBytes),
    ...others.map(({ column }) => longer(column, maxBytes * othersFactor)),
  ];
  return sql`(${sql.join(conditions, sql` or `)})`;
}

/** Whether a value of the attribute may be long. */
export function isLong(attribute: Attribute): boolean {
  return maxBytesOf(attribute) > minLongBytes;
}

function maxBytesOf({ field }: Attribute): number {
  if (isJson(field)) return Number.POSITIVE_INFINITY;
  if (field.kind !== "text") return 0;
  return (field.options.max ?? Number.POSITIVE_INFINITY) * maxCharacterBytes;
}
