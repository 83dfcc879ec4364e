// A SQLite database of layout 2, as the version before made it: one of this version whose tables store `updated_at`, and
// whose triggers index all rows.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { deferralTable } from "../../src/store/schema/table.ts";
import { conditionOfTrigger } from "../../src/store/search/deferral.ts";
import { updatedAtDefinitions } from "../../src/store/sqlite/table-definitions.ts";
import { storedUpdatedAt } from "../../src/store/update-time.ts";
import { layout1Folder, readTexts, recorded, withLayout1 } from "./layout-1.ts";
import { Portico, portico, type Workspace } from "./server.ts";

/** Its tables of an app's resources. Drafts are no longer declared. */
export const tablesOfApp = ["drafts", "notes", "remarks"];

/** What a server answered before, and the definitions of layout 3. */
interface Before {
  readonly answers: readonly unknown[];
  readonly schema: unknown[][];
}

export async function withLayout2(
  work: (workspace: Workspace, before: Before) => Promise<void>,
): Promise<void> {
  await withLayout1("sqlite", async (workspace) => {
    const words = ["migrate", "--layout", "--yes", "--owner", "first"];
    const { code, stderr } = await portico(workspace, words, { cwd: layout1Folder });
    if (code !== 0) throw new Error(stderr);
    const before = { answers: await answersOf(workspace), schema: await schemaOf(workspace) };
    const file = new DatabaseSync(fileURLToPath(workspace.databaseUrl), { defensive: false });
    for (const table of tablesOfApp) storeUpdatedAt(file, table);
    indexAllRows(file);
    file.close();
    await work(workspace, before);
  });
}

/** What a server answers to the keys of both tenants, with the entity tags. */
export async function answersOf(workspace: Workspace): Promise<readonly unknown[]> {
  const server = await Portico.start(workspace, { cwd: layout1Folder });
  try {
    const requests = recorded.flatMap(({ key }) =>
      ["/notes?sort=-title", "/notes?q=a", "/users", "/oauth-clients"].map(async (path) => {
        const { status, body, headers } = await server.request(path, { key });
        assert.equal(status, 200, path);
        return [body, headers.get("etag")];
      }),
    );
    return await Promise.all(requests);
  } finally {
    await server.stop();
  }
}

function storeUpdatedAt(file: DatabaseSync, table: string): void {
  const { stored, computed } = updatedAtDefinitions;
  file.exec(`update ${table} set ${storedUpdatedAt} = updated_at; pragma writable_schema = on`);
  file
    .prepare("update sqlite_schema set sql = replace(sql, ?, ?) where type = 'table' and name = ?")
    .run(computed, stored, table);
  file.exec("pragma writable_schema = reset");
}

function indexAllRows(file: DatabaseSync): void {
  for (const table of ["notes", "users"]) {
    const condition = ` when ${conditionOfTrigger(table)}`;
    const [trigger, ...others] = file
      .prepare("select name, sql from sqlite_schema where type = 'trigger' and instr(sql, ?) > 0")
      .all(condition);
    assert.equal(others.length, 0);
    file.exec(`drop trigger "${trigger!.name}"; ${String(trigger!.sql).replace(condition, "")}`);
  }
  file.exec(`drop table "${deferralTable}"`);
}

/** The definitions of all tables, indexes and triggers. */
export function schemaOf(workspace: Workspace): Promise<unknown[][]> {
  return readTexts(workspace, "select sql from sqlite_schema where sql is not null order by sql");
}
