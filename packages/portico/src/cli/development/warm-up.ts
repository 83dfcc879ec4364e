// Runs a server without declarations once, so that the modules that servers load on use are loaded and compiled before
// the declarations of a project change.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { app } from "../../declare/app.ts";
import { createServer } from "../../server.ts";

export async function warmUp(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "portico-dev-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    const empty = app({ name: "Warm-up", resources: [] });
    const server = await createServer(empty, { databaseUrl: `file:${join(folder, "warm-up.db")}`, port: 1 });
    await server.start();
    await server.close();
    // The database of the project is not known yet.
    await import("../../store/postgres/open.ts");
  } finally {
    process.off("exit", remove);
    remove();
  }
}
