// Opens a store on a PostgreSQL server.

import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError, Problem } from "../../errors.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { StoreOptions } from "../database.ts";
import { Store } from "../store.ts";
import { PostgresDatabase } from "./database.ts";
import { postgresDialect } from "./dialect.ts";
import { PostgresPlans } from "./plans.ts";

/** How long the start waits for the server. */
const connectTimeoutMs = 10_000;

/** @throws OperatorError if the server cannot be reached */
export async function openPostgres(url: string, options: StoreOptions): Promise<Store> {
  requireUrl(url);
  const database = new PostgresDatabase(url, options);
  await check(database, () => database.run("select 1"), url);
  return new Store(postgresDialect, database);
}

/** A database for its plans. @throws OperatorError if the server cannot be reached */
export async function openPlans(url: string, { slowReadMs }: StoreOptions): Promise<PostgresPlans> {
  requireUrl(url);
  const plans = new PostgresPlans(url, slowReadMs);
  await check(plans, () => plans.query({ sql: "select 1", bind: () => [] }, undefined), url);
  return plans;
}

function requireUrl(url: string): void {
  if (URL.canParse(url)) return;
  throw new OperatorError("DATABASE_URL is not a URL; write postgres://USER:PASSWORD@HOST/NAME");
}

/** Checks that the server answers, so that the start fails with a one-line error. */
async function check(
  database: Pick<PostgresDatabase, "close">,
  probe: () => Promise<unknown>,
  url: string,
): Promise<void> {
  try {
    await Promise.race([probe(), sleep(connectTimeoutMs, undefined, { ref: false }).then(throwUnreachable)]);
  } catch (error) {
    // The start fails with the first error; an error of closing adds nothing.
    database.close().catch(() => {});
    const cause = error instanceof Problem ? error.cause : error;
    throw new OperatorError(`the database ${withoutPassword(url)} cannot be reached: ${errorMessage(cause)}`);
  }
}

function throwUnreachable(): never {
  throw new Error(`no answer within ${connectTimeoutMs / 1000} seconds`);
}

function withoutPassword(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
