// Reads the database directly, for tests of what is stored rather than of responses.

import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import type { DatabaseName } from "../../src/store/schema/table.ts";
import { storedUpdatedAt } from "../../src/store/update-time.ts";

export interface DatabaseReader {
  rows(sql: string): Promise<unknown[][]>;
  /** Writes without the server, for example rows with old timestamps. */
  write(sql: string): Promise<void>;
  /** The faults that the integrity checks of the database report. */
  faults(): Promise<unknown[][]>;
  /** Changes when another connection has written to these tables. On SQLite, to any table. */
  version(tables: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** @param url the `DATABASE_URL` of a workspace */
export function openReader(url: string): DatabaseReader {
  return url.startsWith("file:") ? sqliteReader(fileURLToPath(new URL(url))) : postgresReader(url);
}

/** The column in which a row of an app's resource stores the time of an update. */
export function updatedAtColumn(database: DatabaseName): string {
  return database === "sqlite" ? storedUpdatedAt : "updated_at";
}

/** Runs one statement that writes without the server. @param url the `DATABASE_URL` of a workspace */
export async function writeDirectly(url: string, sql: string): Promise<void> {
  await using(url, (reader) => reader.write(sql));
}

/** The first value of the first row, as a number: `select count(*) from posts`. @param url as of `openReader` */
export async function countDirectly(url: string, sql: string): Promise<number> {
  return Number((await using(url, (reader) => reader.rows(sql)))[0]![0]);
}

async function using<Result>(
  url: string,
  work: (reader: DatabaseReader) => Promise<Result>,
): Promise<Result> {
  const reader = openReader(url);
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

function sqliteReader(file: string): DatabaseReader {
  const open = (): DatabaseSync => new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const watcher = open();
  // A new connection each time: an open one caches parts of the search index while others write, and its integrity
  // check would compare old parts with new ones.
  const rows = (sql: string, database: DatabaseSync = open()): unknown[][] => {
    try {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      // setReturnArrays makes every row an array.
      return statement.all() as unknown as unknown[][];
    } finally {
      if (database !== watcher) database.close();
    }
  };
  return {
    rows: async (sql) => rows(sql),
    write: async (sql) => {
      const database = new DatabaseSync(file, { timeout: 5_000 });
      database.exec(sql);
      database.close();
    },
    faults: async () => [
      ...rows("pragma integrity_check").filter(([finding]) => finding !== "ok"),
      ...rows("pragma foreign_key_check"),
    ],
    version: async () => String(rows("pragma data_version", watcher)[0]![0]),
    close: async () => watcher.close(),
  };
}

function postgresReader(url: string): DatabaseReader {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  return {
    rows: async (text) => [...(await sql.unsafe(text).values())],
    write: async (text) => {
      await sql.unsafe(text);
    },
    faults: async () => [],
    // One statement: the number of the next transaction would change with writes to other databases of the server.
    version: async (tables) => {
      const texts = tables.map((table) => `(select string_agg(t::text, '') from ${table} t)`);
      return String(await sql.unsafe(`select md5(concat(${texts.join(", ")}))`).values());
    },
    close: () => sql.end(),
  };
}
