// The thread of `read-worker.ts`. It runs one statement at a time.

import type { SQLInputValue } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { SqliteConnection } from "./connection.ts";
import type { ReadFailure, ReadReply, ReadRequest } from "./read-worker.ts";

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

function failureOf(error: unknown): ReadFailure {
  if (!(error instanceof Error)) return { message: String(error), code: undefined, errcode: undefined };
  const { code, errcode } = error as Error & { readonly code?: string; readonly errcode?: number };
  return { message: error.message, code, errcode };
}
