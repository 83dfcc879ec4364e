// What frees the slot of an export.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Problem } from "../../src/errors.ts";
import { RunningExport } from "../../src/exports/running-export.ts";
import type { RowStream } from "../../src/store/row-stream.ts";

function start(maxMs?: number) {
  const state = { isFree: false, isClosed: false, timeouts: [] as Problem[] };
  const ended = Promise.withResolvers<void>();
  const rows: RowStream = {
    total: undefined,
    next: async () => undefined,
    close: () => {
      state.isClosed = true;
    },
    ended: ended.promise,
  };
  const free = (): void => {
    state.isFree = true;
  };
  const running = new RunningExport({ free, onTimeout: (error) => state.timeouts.push(error), maxMs });
  return { state, ended, rows, running };
}

test("an export has its slot until its statement has ended", async () => {
  const { state, ended, rows, running } = start();
  await running.open(async () => rows);
  running.close();
  await turn();
  assert.deepEqual(state, { isFree: false, isClosed: true, timeouts: [] });
  ended.resolve();
  await turn();
  assert.equal(state.isFree, true);
});

test("an export that ends before it is open ends as soon as it is", async () => {
  const { state, ended, rows, running } = start();
  const opening = Promise.withResolvers<RowStream>();
  const opened = running.open((signal) => {
    assert.equal(signal.aborted, false);
    return opening.promise;
  });
  running.close();
  assert.equal(running.signal.aborted, true);
  ended.resolve();
  await turn();
  assert.equal(state.isFree, false);
  opening.resolve(rows);
  await opened;
  await turn();
  assert.deepEqual(state, { isFree: true, isClosed: true, timeouts: [] });
});

test("an export that cannot be opened frees its slot", async () => {
  const { state, running } = start();
  await assert.rejects(running.open(async () => Promise.reject(new Problem("unavailable"))));
  running.close();
  await turn();
  assert.equal(state.isFree, true);
});

test("an export ends when its time is over", async () => {
  const { state, ended, rows, running } = start(10);
  await running.open(async () => rows);
  ended.resolve();
  while (!state.isFree) await turn();
  assert.equal(state.isClosed, true);
  assert.deepEqual(
    state.timeouts.map(({ code }) => code),
    ["unavailable"],
  );
});
