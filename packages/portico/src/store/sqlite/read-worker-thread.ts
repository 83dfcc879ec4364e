// The thread of `read-worker.ts`. It runs one statement at a time.

import type { SQLInputValue } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { SqliteConnection } from "./connection.ts";
import { failureOf } from "./read-failure.ts";
import type { ReadReply, ReadRequest } from "./read-worker.ts";

const busyTimeoutMs = 1_000;
const connection = new SqliteConnection(workerData as string, busyTimeoutMs);

parentPort!.on("message", (request: ReadRequest) => {
  connection.native.limits.length = request.maxBytes;
  parentPort!.postMessage(reply(request));
});

function reply({ sql, values, maxBytes, isCut }: ReadRequest): ReadReply {
  const bound = values as SQLInputValue[];
  try {
    return { rows: isCut ? connection.firstRows(sql, bound, maxBytes) : connection.rows(sql, bound) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}
