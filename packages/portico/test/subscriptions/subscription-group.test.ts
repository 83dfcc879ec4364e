// A group of subscriptions that share the rendering of events.

import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { TimeSlice } from "../../src/lib/time-slice.ts";
import { SubscriptionGroup } from "../../src/subscriptions/subscription-group.ts";

test("a group delivers again after a member could not be reported a failure", async () => {
  const options = { key: "k", tenantId: "t", mustRead: false, plan: {}, engine: {}, events: { position: 0 } };
  type Options = ConstructorParameters<typeof SubscriptionGroup>[0];
  const group = new SubscriptionGroup({
    ...options,
    queueRead: (work: () => Promise<void>) => work(),
  } as unknown as Options);
  const advanced: number[] = [];
  let isFailing = true;
  const fail = (): void => {
    throw new Error("cannot fail");
  };
  const advance = (sequence: number): void => {
    if (isFailing) throw new Error("cannot advance");
    advanced.push(sequence);
  };
  group.members.add({ caller: {} as never, isBehind: false, deliver: () => {}, advance, fail });
  await rejects(group.deliver([], 1, new TimeSlice()), { message: "cannot fail" });
  isFailing = false;
  await group.deliver([], 2, new TimeSlice());
  deepEqual(advanced, [2]);
});
