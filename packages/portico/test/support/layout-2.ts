// A SQLite database of layout 2, as the version before made it: one of this version whose tables store `updated_at`.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { updatedAtDefinitions } from "../../src/store/sqlite/table-definitions.ts";
import { storedUpdatedAt } from "../../src/store/update-time.ts";
import { layout1Folder, recorded, withLayout1 } from "./layout-1.ts";
import { Portico, portico, type Workspace } from "./server.ts";

/** Its tables of an app's resources. Drafts are no longer declared. */
export const tablesOfApp = ["drafts", "notes", "remarks"];

/** @param work is called with the database, and with what `answersOf` returned before */
export async function withLayout2(
  work: (workspace: Workspace, answers: readonly unknown[]) => Promise<void>,
): Promise<void> {
  await withLayout1("sqlite", async (workspace) => {
    const words = ["migrate", "--layout", "--yes", "--owner", "first"];
    const { code, stderr } = await portico(workspace, words, { cwd: layout1Folder });
    if (code !== 0) throw new Error(stderr);
    const answers = await answersOf(workspace);
    const file = new DatabaseSync(fileURLToPath(workspace.databaseUrl), { defensive: false });
    for (const table of tablesOfApp) storeUpdatedAt(file, table);
    file.close();
    await work(workspace, answers);
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
