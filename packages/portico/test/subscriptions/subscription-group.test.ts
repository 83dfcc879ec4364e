// A group of subscriptions that share the rendering of events.

import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { Position } from "../../src/events/position.ts";
import { TimeSlice } from "../../src/lib/time-slice.ts";
import { SubscriptionGroup } from "../../src/subscriptions/subscription-group.ts";

const at = (sequence: number): Position => new Position(0, sequence);

test("a group delivers again after a member could not be reported a failure", async () => {
  const options = {
    key: "k",
    tenantId: "t",
    mustRead: false,
    plan: {},
    engine: {},
    events: { position: at(0) },
  };
  type Options = ConstructorParameters<typeof SubscriptionGroup>[0];
  const group = new SubscriptionGroup({
    ...options,
    queueRead: (work: () => Promise<void>) => work(),
  } as unknown as Options);
  const advanced: string[] = [];
  let isFailing = true;
  const fail = (): void => {
    throw new Error("cannot fail");
  };
  const advance = (position: Position): void => {
    if (isFailing) throw new Error("cannot advance");
    advanced.push(String(position));
  };
  group.members.add({ caller: {} as never, isBehind: false, deliver: () => {}, advance, fail });
  await rejects(group.deliver([], at(1), new TimeSlice()), { message: "cannot fail" });
  isFailing = false;
  await group.deliver([], at(2), new TimeSlice());
  deepEqual(advanced, ["2"]);
});
