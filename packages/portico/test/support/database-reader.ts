// Looks into the database beside the server, where a test asks what is on disk and not what is answered.

import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import postgres from "postgres";

export interface DatabaseReader {
  rows(sql: string): Promise<unknown[][]>;
  /** Writes past the server: rows as they would stand after a long time. */
  write(sql: string): Promise<void>;
  /** What the database finds wrong with itself. */
  faults(): Promise<unknown[][]>;
  /** Changes whenever somebody else may have written. */
  version(): Promise<string>;
  close(): Promise<void>;
}

/** @param url the `DATABASE_URL` of a place */
export function openReader(url: string): DatabaseReader {
  return url.startsWith("file:") ? sqliteReader(fileURLToPath(new URL(url))) : postgresReader(url);
}

function sqliteReader(file: string): DatabaseReader {
  const open = (): DatabaseSync => new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const watcher = open();
  // A new connection each time: one that is open while others write keeps parts of the search index in memory,
  // and its integrity check then compares old with new.
  const rows = (sql: string, database: DatabaseSync = open()): unknown[][] => {
    try {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      // With setReturnArrays every row is an array.
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
    // The number that the next transaction which writes will have.
    version: async () =>
      String(await sql.unsafe("select pg_snapshot_xmax(pg_current_snapshot())::text").values()),
    close: () => sql.end(),
  };
}
