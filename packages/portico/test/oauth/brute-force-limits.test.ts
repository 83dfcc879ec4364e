// Limits on attempts, and on emails that unauthenticated requests cause.

import assert from "node:assert/strict";
import { test } from "node:test";
import { TokenBuckets } from "../../src/limits/token-bucket.ts";
import { BruteForceLimits } from "../../src/oauth/endpoints/brute-force-limits.ts";

const account = { tenantId: "tenant_1", email: "ada@example.com" };

test("requests for password links do not use up the quota of a user's own emails", async () => {
  const limits = new BruteForceLimits(new TokenBuckets(), { limit: 100, windowSeconds: 60 });
  const stranger = { ...account, address: "2.2.2.2" };
  let seconds = 0;
  for (let request = 0; request < 100 && seconds === 0; request += 1)
    seconds = await limits.secondsToWaitForEmail(stranger, "password");
  assert.ok(seconds > 0, "strangers are limited");
  assert.equal(await limits.secondsToWaitForEmail({ ...account, address: "3.3.3.3" }, "email"), 0);
});
