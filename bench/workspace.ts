// The workspace of a bench: a folder for its files and an empty database, both removed at the end.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import type { DatabaseName } from "./options.ts";

export interface Workspace {
  readonly folder: string;
  readonly databaseUrl: string;
  /** The size of the database, with indexes. */
  databaseBytes(): Promise<number>;
  remove(): Promise<void>;
}

export async function createWorkspace(database: DatabaseName): Promise<Workspace> {
  const folder = mkdtempSync(join(tmpdir(), "portico-bench-"));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  if (database === "sqlite") {
    const file = join(folder, "portico.db");
    return {
      folder,
      databaseUrl: `file:${file}`,
      databaseBytes: async () => statSync(file).size,
      remove: async () => removeFolder(),
    };
  }
  try {
    const schema = await createSchema(process.env.BENCH_DATABASE_URL!);
    const remove = async (): Promise<void> => {
      removeFolder();
      await schema.drop();
    };
    return { folder, databaseUrl: schema.url, databaseBytes: () => schema.bytes(), remove };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

interface Schema {
  /** Connections to this URL use only this schema. */
  readonly url: string;
  /** The size of all tables, with indexes and TOAST. */
  bytes(): Promise<number>;
  drop(): Promise<void>;
}

async function createSchema(server: string): Promise<Schema> {
  const url = URL.parse(server);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new Error("BENCH_DATABASE_URL must be postgres://USER:PASSWORD@HOST/NAME");
  }
  const name = `portico_bench_${randomBytes(6).toString("hex")}`;
  await runStatement(server, `create schema ${name}`);
  url.searchParams.set("search_path", name);
  return {
    url: url.href,
    async bytes() {
      const [row] = await runStatement(
        server,
        `select sum(pg_total_relation_size(oid))::text as bytes from pg_class
         where relnamespace = '${name}'::regnamespace and relkind = 'r'`,
      );
      return Number(row!.bytes);
    },
    drop: async () => void (await runStatement(server, `drop schema ${name} cascade`)),
  };
}

async function runStatement(server: string, statement: string): Promise<readonly postgres.Row[]> {
  const sql = postgres(server, { max: 1, connect_timeout: 10, onnotice: () => {} });
  try {
    return await sql.unsafe(statement);
  } catch (error) {
    throw new Error(`BENCH_DATABASE_URL: ${statement}: ${(error as Error).message}`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
