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

/** Chunks of 700 rows each. */
function rowsOf(chunks: number): RowStream {
  let left = chunks;
  return {
    total: undefined,
    next: async () => (left-- > 0 ? { bytes: Buffer.from("{}\n"), count: 700 } : undefined),
    close: () => {},
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
    for await (const { count } of exportBody(rowsOf(5), caller, { verify, charge, signal, verifyEveryMs: 0 }))
      outcome.sent += count;
  } catch (error) {
    outcome.error = error;
  }
  return outcome;
}

test("an export of an unchanged credential sends all rows, and charges a token for each 1,000", async () => {
  assert.deepEqual(await run(async () => caller), { sent: 3_500, tokens: 3, error: undefined });
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
