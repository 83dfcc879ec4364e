// The thread of `row-stream.ts`: reads the rows of one statement, some for each message.

import type { SQLInputValue } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { ColumnValues } from "../database.ts";
import { chunkLength, chunkMs, linesOf } from "../row-stream.ts";
import { SqliteConnection } from "./connection.ts";
import { failureOf } from "./read-failure.ts";
import type { RowStreamData, RowStreamReply } from "./row-stream.ts";

const busyTimeoutMs = 1_000;
const { file, rows, count, csv } = workerData as RowStreamData;
const connection = new SqliteConnection(file, busyTimeoutMs);
let pending: Iterator<ColumnValues> | undefined;

/** Begins the transaction in which all rows are read, so that they are those of one moment. */
function open(): RowStreamReply {
  connection.native.exec("begin");
  const [counted] = count ? connection.rows(count.sql, count.values as SQLInputValue[]) : [];
  pending = connection.iterate(rows.sql, rows.values as SQLInputValue[]);
  return { total: counted?.[0] as number | undefined };
}

function next(): RowStreamReply {
  const started = performance.now();
  const texts: string[] = [];
  let length = 0;
  let hasEnded = false;
  while (length < chunkLength && performance.now() - started < chunkMs) {
    const row = pending!.next();
    if (row.done) {
      hasEnded = true;
      break;
    }
    const text = row.value[0] as string;
    texts.push(text);
    length += text.length;
  }
  return { lines: linesOf(texts, csv), count: texts.length, hasEnded };
}

parentPort!.on("message", () => {
  try {
    parentPort!.postMessage(pending ? next() : open());
  } catch (error) {
    parentPort!.postMessage({ failure: failureOf(error) } satisfies RowStreamReply);
  }
});
