// Moves rows that are deleted softly to the table of deleted rows, and back when they are restored. A row is copied by the
// database, column by column, so that it comes back as it was.

import { type RawBuilder, sql } from "kysely";
import { isCleared } from "../../model/deletion.ts";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import { deletionColumns } from "../../model/soft-deletion.ts";
import { wholeRow } from "../../query/selection.ts";
import type { Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { storedAttributes } from "../schema/resource-table.ts";
import { type ColumnType, searchColumn } from "../schema/table.ts";
import { compile, parameter } from "../statement.ts";
import { writtenColumn } from "../update-time.ts";
import { rowJson } from "./row.ts";

interface OfTenant {
  readonly resource: ResourceModel;
  readonly tenantId: string;
}

/** Rows that are about to be deleted. */
export interface KeptRows extends OfTenant {
  readonly ids: readonly string[];
  /** The row with which they are deleted; undefined if each is deleted by itself. */
  readonly deletedWith: string | undefined;
  /** Greater than that of all rows that were deleted with it before. */
  readonly order: number;
  readonly at: string;
}

/** Rows that were deleted with one row. */
export interface Deletion extends OfTenant {
  /** The id of that row. */
  readonly deletedWith: string;
}

/** Those of them that were deleted together. */
export interface DeletedBatch extends Deletion {
  readonly order: number;
  readonly restoredAt: string;
}

/** Deleted rows that refer to rows. */
export interface ReferringRows extends OfTenant {
  readonly reference: Attribute;
  readonly ids: readonly string[];
}

type Stored<Input> = Input & { readonly tenantNo: number | null };

/** Copies rows to the table of deleted rows. They are locked, so that each is deleted as it was copied. */
export function compileKeep(dialect: Dialect, resource: ResourceModel): Statement<Stored<KeptRows>> {
  const columns = columnsOf(resource);
  const { table, attribute } = resource.deletedRows!;
  const deletedAt = attribute.get("deletedAt")!;
  const names = [...columns, deletedAt.column, ...Object.values(deletionColumns)];
  const values = [
    ...columns.map((name) => sql.ref(name)),
    typed(dialect, "timestamp", ({ at }: KeptRows) => dialect.encode(deletedAt, at)),
    sql`coalesce(${typed(dialect, "text", ({ deletedWith }: KeptRows) => deletedWith ?? null)}, id)`,
    typed(dialect, "integer", ({ order }: KeptRows) => order),
    hasNumbers(dialect) ? dialect.rowIdColumn : sql`null`,
  ];
  return compile(
    dialect.builder,
    sql`insert into ${sql.table(table)} (${list(names)}) select ${sql.join(values)} from ${sql.table(resource.table)}
      where ${ofTenant()} and id in (${dialect.textsOf(idsParameter())}) order by id${dialect.locks.delete}`,
  );
}

/** The numbers of the batches in which the rows of a resource were deleted with a row. */
export function compileBatches(dialect: Dialect, resource: ResourceModel): Statement<Stored<Deletion>> {
  const order = sql.ref(deletionColumns.order);
  return compile(
    dialect.builder,
    sql`select distinct ${order} from ${sql.table(resource.deletedRows!.table)} where ${ofDeletion()}`,
  );
}

/** Copies a batch of deleted rows back. Returns the ids and texts of the rows, the oldest first. */
export function compileRestore(dialect: Dialect, resource: ResourceModel): Statement<Stored<DeletedBatch>> {
  const columns = columnsOf(resource);
  const updatedAt = resource.attribute.get("updatedAt")!;
  const restoredAt = typed(dialect, updatedAt.field.kind === "timestamp" ? "timestamp" : "text", (batch) =>
    dialect.encode(updatedAt, (batch as DeletedBatch).restoredAt),
  );
  const links = new Map(resource.links.map((each) => [each.column, each]));
  const references = new Map(resource.references.filter(isCleared).map((each) => [each.column, each]));
  // The rows that were deleted with a row are counted again when they are restored after it.
  const kept = new Set(resource.keptCounts.map((count) => count.attribute.column));
  const values = columns.map((name) => {
    if (name === updatedAt.column) return restoredAt;
    if (kept.has(name)) return sql.lit(0);
    const linked = links.get(name);
    if (linked) return restorableIds(dialect, resource, linked);
    const cleared = references.get(name);
    return cleared ? restorableReference(resource, cleared) : sql.ref(`d.${name}`);
  });
  const names = columns.map((name) => writtenColumn(dialect.name, resource, name));
  if (resource.search.length > 0) {
    // The search words are computed when the rows are read.
    names.push(searchColumn);
    values.push(sql.lit(""));
  }
  if (hasNumbers(dialect)) {
    names.push(rowNumber);
    values.push(formerNumber(resource));
  }
  return compile(
    dialect.builder,
    sql`insert into ${sql.table(resource.table)} (${list(names)})
      select ${sql.join(values)} from ${sql.table(resource.deletedRows!.table)} as d
      where ${ofDeletion()} and ${sql.ref(deletionColumns.order)} = ${parameter(({ order }: DeletedBatch) => order)}
      order by d.created_at, d.id
      returning id, ${rowJson(dialect, undefined, wholeRow(resource))}`,
  );
}

/** The ids of a many-to-many field of the deleted row `d` whose rows exist, or are restored with it. */
function restorableIds(
  dialect: Dialect,
  resource: ResourceModel,
  { column, links }: Attribute,
): RawBuilder<unknown> {
  return sql`(select ${dialect.rowsJson(sql`element.value`)} from ${dialect.elementsOf("id", sql.ref(`d.${column}`))} as element
    where ${isRestorable(resource, links!.target, sql`element.value`)})`;
}

/** The reference of the deleted row `d`, if its row exists or is restored with it; otherwise null. */
function restorableReference(resource: ResourceModel, { column, reference }: Attribute): RawBuilder<unknown> {
  const id = sql.ref(`d.${column}`);
  return sql`case when ${isRestorable(resource, reference!.target, id)} then ${id} end`;
}

/** Whether a row to which the deleted row `d` refers exists, or is restored with it. */
function isRestorable(
  resource: ResourceModel,
  target: ResourceModel,
  id: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const exists = sql`exists (select 1 from ${sql.table(target.table)} as l where l.tenant_no = d.tenant_no and l.id = ${id})`;
  if (target !== resource) return exists;
  const [withRow, order] = [sql.ref(deletionColumns.with), sql.ref(deletionColumns.order)];
  return sql`(${exists} or exists (select 1 from ${sql.table(resource.deletedRows!.table)} as o
    where o.tenant_no = d.tenant_no and o.id = ${id} and o.${withRow} = d.${withRow} and o.${order} = d.${order}))`;
}

const rowNumber = "row_no";

/** Whether rows are numbered in the order of their creation, on which searches rely (`search/creation-order.ts`). */
function hasNumbers({ name }: Dialect): boolean {
  return name === "sqlite";
}

/** The number that the deleted row `d` had, if it is free; null for the next number. The number of the newest row is given again. */
function formerNumber({ table }: ResourceModel): RawBuilder<unknown> {
  const former = sql.ref(`d.${deletionColumns.rowNumber}`);
  const number = sql.ref(`n.${rowNumber}`);
  const rows = sql`${sql.table(table)} as n`;
  const isFree = sql`${former} < (select max(${number}) from ${rows}) and not exists (select 1 from ${rows} where ${number} = ${former})`;
  return sql`case when ${isFree} then ${former} end`;
}

/** Deletes the rows of a resource for good that were deleted with a row. */
export function compileForget(dialect: Dialect, resource: ResourceModel): Statement<Stored<Deletion>> {
  return compile(
    dialect.builder,
    sql`delete from ${sql.table(resource.deletedRows!.table)} where ${ofDeletion()}`,
  );
}

/** Deletes the deleted rows of a resource for good that refer to rows. Returns their ids and texts. */
export function compileForgetReferring(
  dialect: Dialect,
  resource: ResourceModel,
  { column }: Attribute,
): Statement<Stored<ReferringRows>> {
  return compile(
    dialect.builder,
    sql`delete from ${sql.table(resource.deletedRows!.table)}
      where ${ofTenant()} and ${sql.ref(column)} in (${dialect.textsOf(idsParameter())})
      returning id, ${rowJson(dialect, undefined, wholeRow(resource))}`,
  );
}

/** The columns that rows and deleted rows have in common. */
function columnsOf(resource: ResourceModel): string[] {
  return ["tenant_no", ...storedAttributes(resource).map(({ column }) => column)];
}

function list(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)));
}

function ofTenant(): RawBuilder<unknown> {
  return sql`tenant_no = ${parameter(({ tenantNo }: Stored<OfTenant>) => tenantNo)}`;
}

function ofDeletion(): RawBuilder<unknown> {
  const deletedWith = parameter((deletion: Deletion) => deletion.deletedWith);
  return sql`${ofTenant()} and ${sql.ref(deletionColumns.with)} = ${deletedWith}`;
}

function idsParameter(): RawBuilder<unknown> {
  return parameter(({ ids }: Pick<KeptRows, "ids">) => JSON.stringify(ids));
}

/** A parameter in a list of columns, whose type PostgreSQL does not infer. */
function typed<Input>(
  dialect: Dialect,
  type: ColumnType,
  read: (input: Input) => unknown,
): RawBuilder<unknown> {
  // The type of a column of texts names a collation, too.
  const name = type === "text" ? type : dialect.columnType[type];
  return sql`cast(${parameter(read)} as ${sql.raw(name)})`;
}
