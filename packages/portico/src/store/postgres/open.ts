// Opens a store on a PostgreSQL server.

import { OperatorError } from "../../errors.ts";
import type { StoreOptions } from "../database.ts";
import { Store } from "../store.ts";
import { checkPostgres, PostgresDatabase } from "./database.ts";
import { postgresDialect } from "./dialect.ts";

/** @throws OperatorError where the server cannot be reached */
export async function openPostgres(url: string, options: StoreOptions): Promise<Store> {
  const database = databaseAt(url, options);
  await checkPostgres(database, url);
  return new Store(postgresDialect, database);
}

function databaseAt(url: string, options: StoreOptions): PostgresDatabase {
  try {
    return new PostgresDatabase(url, options);
  } catch {
    throw new OperatorError("DATABASE_URL is no URL; write postgres://USER:PASSWORD@HOST/NAME");
  }
}
