// What a change of the layout needs and reports, on both databases.

import { OperatorError } from "../../errors.ts";
import { isOfResource } from "../schema/resource-tables.ts";
import type { Table } from "../schema/table.ts";
import type { ExistingTable } from "../schema/tables.ts";
import type { Store } from "../store.ts";

/** Called while rows are copied. @param fraction from 0 to 1 */
export type CopyProgress = (table: string, fraction: number) => void;

export interface LayoutChange {
  /** The tables that were changed, and how many rows they have. */
  readonly tables: number;
  readonly rows: number;
  /** The path of the database as it was; undefined on PostgreSQL. */
  readonly backup: string | undefined;
}

/** Refuses a database that cannot be changed. @throws OperatorError */
export type CheckDatabase = (store: Store) => Promise<void>;

/** Brings the tables of a database to what the declarations need. */
export type CompleteTables = (store: Store) => Promise<unknown>;

/** The names of the tables that a change of layout changes. */
export interface TablesToChange {
  readonly layout: 1 | 2;
  /** Those whose rows have the id of a tenant. */
  readonly withTenantId: readonly string[];
  /** Those that store `updated_at` and are to compute it. SQLite only. */
  readonly withUpdatedAt: readonly string[];
  readonly declared: ReadonlySet<string>;
}

/** The existing tables whose rows have the id of a tenant: of declarations, and of resources that were declared once. */
export function tablesWithTenantId(
  existing: ReadonlyMap<string, ExistingTable>,
  declared: readonly Pick<Table, "name">[],
): string[] {
  const names = new Set(declared.map(({ name }) => name));
  return [...existing]
    .filter(
      ([name, table]) =>
        table.columns.has("tenant_id") && (names.has(name) || isOfResource(table, "tenant_id")),
    )
    .map(([name]) => name);
}

/** The names of columns in a text of SQL: of constraints, indexes, views. */
export function withTenantNumber(text: string): string {
  return text.replaceAll(/\btenant_id\b/g, "tenant_no");
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** @param copied how many rows of the table have a tenant */
export function refuseOrphans(table: string, copied: number, existing: number): void {
  if (copied === existing) return;
  throw new OperatorError(
    `${existing - copied} rows of ${table} belong to no tenant; delete them first: delete from ${table} where tenant_id not in (select id from tenants). The database is as it was`,
  );
}
