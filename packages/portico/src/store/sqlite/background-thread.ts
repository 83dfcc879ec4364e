// The thread behind `background-reader.ts`: answers one question after another.

import type { SQLInputValue } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { Question, Reply } from "./background-reader.ts";
import { SqliteConnection } from "./connection.ts";

const busyTimeoutMs = 1_000;
const connection = new SqliteConnection(workerData as string, busyTimeoutMs);

parentPort!.on("message", ({ number, sql, values }: Question) => {
  parentPort!.postMessage(reply(number, sql, values as SQLInputValue[]));
});

function reply(number: number, sql: string, values: SQLInputValue[]): Reply {
  try {
    return { number, rows: connection.all(sql, values) };
  } catch (error) {
    return { number, error: error instanceof Error ? error.message : String(error) };
  }
}
