// The layout of a database: how all tables name the tenant of a row. In layout 1 each row holds the id of its tenant, in
// layout 2 its number. `portico migrate --layout` changes it.

import { OperatorError } from "../../errors.ts";
import type { ExistingTable } from "../schema/tables.ts";

/** The layout of the existing tables; undefined for a database without tables. */
export function layoutOf(existing: ReadonlyMap<string, ExistingTable>): 1 | 2 | undefined {
  const tenants = existing.get("tenants");
  if (!tenants) return undefined;
  return tenants.columns.has("no") ? 2 : 1;
}

/** @throws OperatorError for a database of layout 1, which this version cannot read */
export function refuseOldLayout(existing: ReadonlyMap<string, ExistingTable>): void {
  if (layoutOf(existing) !== 1) return;
  throw new OperatorError(
    "the database has the layout of an earlier version; stop its servers, then run portico migrate --layout",
  );
}
