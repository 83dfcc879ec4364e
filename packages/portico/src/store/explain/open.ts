// Opens a database for its plans. Reading it is enough: nothing is written, created or locked.

import type { StoreOptions } from "../database.ts";
import { databaseFile } from "../open.ts";
import { sqliteDialect } from "../sqlite/dialect.ts";
import { SqlitePlans } from "../sqlite/plans.ts";
import { Store } from "../store.ts";
import type { PlanDatabase } from "./plan-database.ts";
import { ReadRecorder } from "./recorded-reads.ts";

/** A store whose reads of rows are recorded, and the database that explains them. */
export interface ExplainingStore {
  readonly store: Store;
  readonly database: PlanDatabase;
  readonly recorder: ReadRecorder;
}

/** @throws OperatorError if the database cannot be opened or reached */
export async function openForPlans(url: string, options: StoreOptions): Promise<ExplainingStore> {
  const recorder = new ReadRecorder();
  const file = databaseFile(url);
  if (file !== undefined) {
    const database = new SqlitePlans(file);
    return { database, recorder, store: new Store(sqliteDialect, database, recorder.record) };
  }
  // Loaded only when needed: the driver takes time to load.
  const [{ openPlans }, { postgresDialect }] = await Promise.all([
    import("../postgres/open.ts"),
    import("../postgres/dialect.ts"),
  ]);
  const database = await openPlans(url, options);
  return { database, recorder, store: new Store(postgresDialect, database, recorder.record) };
}
