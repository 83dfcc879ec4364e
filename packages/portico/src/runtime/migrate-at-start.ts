// Brings the database to the schema at start. A sandbox migrates automatically; in live mode the operator decides when.

import { appointOwners, planRoles } from "../auth/users/role-upgrade.ts";
import { OperatorError } from "../errors.ts";
import { type Migration, migrate, pendingChanges } from "../store/schema/migrate.ts";
import type { Store } from "../store/store.ts";
import type { Assembly } from "./compose.ts";
import type { Settings } from "./settings/settings.ts";
import { standardDatabaseUrl } from "./settings/table.ts";

/**
 * @returns what was migrated; undefined in live mode
 * @throws OperatorError for a schema that cannot be migrated, and in live mode for pending changes
 */
export async function migrateAtStart(store: Store, assembly: Assembly): Promise<Migration | undefined> {
  const { tables, settings } = assembly;
  if (settings.mode === "sandbox") return migrateSandbox(store, assembly);
  const statements = await pendingChanges(store, tables);
  if (statements.length === 0) return undefined;
  throw new OperatorError(
    `${statements.length} pending schema changes; preview them with portico migrate --dry-run, then run portico migrate`,
  );
}

async function migrateSandbox(store: Store, { tables, model, settings }: Assembly): Promise<Migration> {
  const { owners } = await planRoles(store, model, { names: [], isSandbox: true });
  // A sandbox has one process, so that no other version needs an index.
  const migration = await migrate(store, tables, { isContraction: true }).catch((error: unknown) => {
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError(`${error.message}\n${howToStartOver(settings)}`);
  });
  await appointOwners(store, model, owners);
  return migration;
}

/** For a developer who has replaced the declarations and needs none of the sandbox's rows. */
function howToStartOver({ databaseUrl }: Settings): string {
  const remedy = databaseUrl === standardDatabaseUrl ? "remove data/" : "empty the database of DATABASE_URL";
  return `If you need nothing that this sandbox holds, ${remedy} and start again.`;
}
