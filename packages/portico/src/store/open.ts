// Opens the database that DATABASE_URL names.

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { OperatorError } from "../errors.ts";
import { type StoreOptions, standardOptions } from "./database.ts";
import { SqliteDatabase } from "./sqlite/database.ts";
import { sqliteDialect } from "./sqlite/dialect.ts";
import { Store } from "./store.ts";

/**
 * @param url `file:./data/portico.db` or `postgres://user:password@host/database`
 * @throws OperatorError if the database cannot be opened or reached
 */
export async function openStore(url: string, options: StoreOptions = standardOptions): Promise<Store> {
  const file = databaseFile(url);
  if (file !== undefined) return new Store(sqliteDialect, new SqliteDatabase(file, options));
  // Loaded only when needed: its driver takes time to load.
  const { openPostgres } = await import("./postgres/open.ts");
  return openPostgres(url, options);
}

/** The path of an embedded database, or undefined for a PostgreSQL server. */
export function databaseFile(url: string): string | undefined {
  if (/^postgres(ql)?:\/\//.test(url)) return undefined;
  if (url.startsWith("file:///")) return fileURLToPath(url);
  if (url.startsWith("file:") && url.length > "file:".length) return resolve(url.slice("file:".length));
  throw new OperatorError(
    `DATABASE_URL is ${url.slice(0, 20)}; write file:PATH or postgres://USER:PASSWORD@HOST/NAME`,
  );
}
