// Changes the layout of a PostgreSQL database. The tables are copied into a schema of their own, and replace the others in
// one transaction. Until then, the database is as it was.

import { OperatorError } from "../../errors.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Session } from "../database.ts";
import { openStore } from "../open.ts";
import type { Store } from "../store.ts";
import { type CompleteTables, type CopyProgress, type LayoutChange, quoted } from "./change.ts";
import { constraintsOf, fillSchema, literal, run, type Schemas } from "./postgres-tables.ts";

/** How long the last step waits for other transactions. */
const lockTimeoutMs = 10_000;
/** The names of connections (`application_name`): of servers, and of the change. */
const serverName = "portico";
const ownName = "portico migrate --layout";

/**
 * @param changed the names of the tables whose rows have the id of a tenant
 * @param complete creates the indexes, and what the declarations have added
 * @throws OperatorError if it is not possible; its message says whether the database is as it was
 */
export async function changePostgresLayout(
  url: string,
  changed: readonly string[],
  complete: CompleteTables,
  onProgress: CopyProgress,
): Promise<LayoutChange> {
  const ownUrl = withParameter(url, "application_name", ownName);
  const store = await openStore(ownUrl);
  try {
    const rows = await store.database
      .maintain((session) =>
        session.transaction((locking) => changeTables(locking, ownUrl, changed, complete, onProgress)),
      )
      .catch((error: unknown) => {
        if (error instanceof OperatorError) throw error;
        throw new OperatorError(`${errorMessage(error)}; the database is as it was`, { cause: error });
      });
    await completeRest(store, complete);
    return { tables: changed.length, rows, backup: undefined };
  } finally {
    await store.database.close();
  }
}

/** Completes the tables without a tenant, which were not copied. @throws OperatorError that says what is changed already */
async function completeRest(store: Store, complete: CompleteTables): Promise<void> {
  try {
    await complete(store);
  } catch (error) {
    throw new OperatorError(
      `the layout is changed, but not all that the declarations need: ${errorMessage(error)}; run portico migrate`,
      { cause: error },
    );
  }
}

/** @param locking the transaction that locks the tables while another connection copies them, and replaces them */
async function changeTables(
  locking: Session,
  url: string,
  changed: readonly string[],
  complete: CompleteTables,
  onProgress: CopyProgress,
): Promise<number> {
  const [[current]] = (await run(locking, "select current_schema()")) as [[string]];
  const schemas = { current, next: `${current}_layout_2` };
  await refuseServers(locking);
  await lockTables(locking, schemas, ["tenants", ...changed]);
  const constraints = await constraintsOf(locking, changed);
  const copying = await openStore(withParameter(url, "search_path", quoted(schemas.next)));
  try {
    const rows = await copying.database.maintain((session) =>
      fillSchema(session, schemas, changed, constraints, onProgress),
    );
    await complete(copying);
    await replaceTables(locking, schemas, ["tenants", ...changed]);
    return rows;
  } catch (error) {
    await copying.database.run(`drop schema if exists ${quoted(schemas.next)} cascade`);
    throw error;
  } finally {
    await copying.database.close();
  }
}

/** @throws OperatorError while a server is connected: its statements would fail after the change */
async function refuseServers(session: Session): Promise<void> {
  const servers = await run(
    session,
    `select distinct coalesce(client_addr::text, 'this machine') from pg_stat_activity
     where datname = current_database() and usename = current_user and application_name = '${serverName}'`,
  );
  if (servers.length === 0) return;
  const addresses = servers.map(([address]) => address).join(", ");
  throw new OperatorError(`the database is in use by Portico on ${addresses}; stop the servers first`);
}

/** Lets other connections read the tables until the end of the transaction. @throws OperatorError if they are locked */
async function lockTables(locking: Session, { current }: Schemas, tables: readonly string[]): Promise<void> {
  const names = tables.map((table) => `${quoted(current)}.${quoted(table)}`).join(", ");
  try {
    await run(locking, `lock table ${names} in exclusive mode nowait`);
  } catch (error) {
    throw new OperatorError(
      "the tables are in use by another process; stop the servers, and run only one portico migrate --layout",
      { cause: error },
    );
  }
}

/** Drops the tables, and moves the copies to their place. */
async function replaceTables(locking: Session, schemas: Schemas, tables: readonly string[]): Promise<void> {
  const [current, next] = [quoted(schemas.current), quoted(schemas.next)];
  await run(locking, `set local lock_timeout = ${lockTimeoutMs}`);
  await run(locking, `drop table ${tables.map((table) => `${current}.${quoted(table)}`).join(", ")}`);
  const copies = await run(
    locking,
    `select c.relname, (select true from pg_class o where o.relname = c.relname and o.relkind = 'r'
        and o.relnamespace = current_schema()::regnamespace)::text
     from pg_class c where c.relkind = 'r' and c.relnamespace = ${literal(next)}::regnamespace`,
  );
  for (const [table, isKept] of copies) {
    const copy = `${next}.${quoted(table!)}`;
    // The migration has created empty ones for the tables that were not copied.
    await run(locking, isKept ? `drop table ${copy}` : `alter table ${copy} set schema ${current}`);
  }
  await run(locking, `drop schema ${next}`);
}

function withParameter(url: string, name: string, value: string): string {
  const changed = new URL(url);
  changed.searchParams.set(name, value);
  return changed.href;
}
