// The quota of a credential's subscriptions, charged for what they send.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "../../src/declare/caller.ts";
import { bytesOfToken } from "../../src/query/answer-size.ts";
import { QuotaMeter } from "../../src/subscriptions/quota-meter.ts";

const caller = {} as Caller;

test("a charge during another one is charged after it", async () => {
  const charges: number[] = [];
  const meter = new QuotaMeter(
    async (_, tokens) => {
      charges.push(tokens);
      return 0;
    },
    () => {},
  );
  meter.charge(caller, bytesOfToken);
  meter.charge(caller, 2 * bytesOfToken + 1);
  meter.charge(caller, bytesOfToken - 1);
  equal(meter.isEmpty, true);
  await meter.refilled();
  deepEqual(charges, [1, 3]);
  equal(meter.isEmpty, false);
});

test("a failed charge is reported and charged again with later ones", async () => {
  const charges: number[] = [];
  const errors: unknown[] = [];
  const meter = new QuotaMeter(
    async (_, tokens) => {
      charges.push(tokens);
      if (charges.length === 1) throw new Error("the quota cannot be read");
      return 0;
    },
    (error) => errors.push((error as Error).message),
  );
  meter.charge(caller, 5 * bytesOfToken);
  meter.charge(caller, bytesOfToken);
  const isAlive = setInterval(() => {}, 1_000);
  await meter.refilled();
  clearInterval(isAlive);
  deepEqual(charges, [5, 6]);
  deepEqual(errors, ["the quota cannot be read"]);
});
