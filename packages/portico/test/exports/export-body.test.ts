// What ends an export while it runs, and what it charges.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "../../src/declare/caller.ts";
import { Problem } from "../../src/errors.ts";
import { exportBody } from "../../src/exports/export-body.ts";
import type { RowStream } from "../../src/store/row-stream.ts";

const caller: Caller = {
  kind: "key",
  tenantId: "tenant_1",
  userId: "user_1",
  role: "owner",
  credentialId: "key_1",
  scopes: new Set(["notes:read"]),
};

/** As on a thread that has time to spare. */
const pace = { take: async () => {}, charge: () => {} };

/** Chunks of 700 rows each. */
function rowsOf(chunks: number): RowStream {
  let left = chunks;
  return {
    total: undefined,
    next: async () => (left-- > 0 ? { lines: "{}\n", count: 700 } : undefined),
    close: () => {},
    ended: Promise.resolve(),
  };
}

/** Runs an export in which the credential is checked before each chunk. */
async function run(verify: () => Promise<Caller>): Promise<{ sent: number; tokens: number; error: unknown }> {
  const outcome: { sent: number; tokens: number; error: unknown } = { sent: 0, tokens: 0, error: undefined };
  const charge = (_caller: Caller, tokens: number): number => {
    outcome.tokens += tokens;
    return 0;
  };
  const { signal } = new AbortController();
  try {
    for await (const { count } of exportBody(rowsOf(5), caller, {
      verify,
      charge,
      pace,
      signal,
      verifyEveryMs: 0,
    }))
      outcome.sent += count;
  } catch (error) {
    outcome.error = error;
  }
  return outcome;
}

test("an export of an unchanged credential sends all rows, and charges a token for each 1,000", async () => {
  assert.deepEqual(await run(async () => caller), { sent: 3_500, tokens: 3, error: undefined });
});

test("an export waits where its quota has no token", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const charge = (): number => 0.05;
  const { signal } = new AbortController();
  const chunks = exportBody(rowsOf(2), caller, { verify: async () => caller, charge, pace, signal });
  await chunks.next();
  let isSent = false;
  // The second chunk has the 1,000th row.
  const second = chunks.next().finally(() => {
    isSent = true;
  });
  for (const ms of [0, 49]) {
    context.mock.timers.tick(ms);
    await new Promise(setImmediate);
    assert.equal(isSent, false);
  }
  context.mock.timers.tick(1);
  assert.equal((await second).value?.count, 700);
});

test("an export reads as much as its pace allows", async () => {
  const steps: (string | number)[] = [];
  const slow = {
    take: async (units: number) => void steps.push(`take ${units}`),
    charge: (bytes: number) => void steps.push(bytes),
  };
  const { signal } = new AbortController();
  const controls = { verify: async () => caller, charge: () => 0, pace: slow, signal };
  for await (const _ of exportBody(rowsOf(2), caller, controls)) steps.push("sent");
  assert.deepEqual(steps, ["take 0", 3, "sent", "take 0", 3, "sent", "take 0"]);
});

const changes: readonly [fact: string, Partial<Caller>][] = [
  ["the role is another", { role: "member" }],
  ["the scope is gone", { scopes: new Set() }],
  ["the credential belongs to another user", { userId: "user_2" }],
];
for (const [fact, change] of changes)
  test(`an export sends no further row when ${fact}`, async () => {
    let checks = 0;
    const { sent, error } = await run(async () => (++checks < 3 ? caller : { ...caller, ...change }));
    assert.equal(sent, 1_400);
    assert.ok(error instanceof Problem && error.code === "insufficient_scope");
  });

test("an export sends no further row when the credential is revoked", async () => {
  const { sent, error } = await run(async () => {
    throw new Problem("invalid_credential");
  });
  assert.equal(sent, 0);
  assert.ok(error instanceof Problem && error.code === "invalid_credential");
});
