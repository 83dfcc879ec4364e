// Tenants in databases that a test fills by itself.

import { sql } from "kysely";
import { migrate } from "../../src/store/schema/migrate.ts";
import { compile } from "../../src/store/statement.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";

/** Creates the table of tenants, and a tenant with this id in it. */
export async function insertTenant(store: Store, id: string): Promise<void> {
  await migrate(store, [tenantsTable]);
  const insertion = sql`insert into tenants (id, name, created_at) values (${id}, 'Test', '2026-01-01T00:00:00.000Z')`;
  await store.transaction((session) => session.query(compile(store.dialect.builder, insertion), undefined));
}
