// How many pages of the event log are in memory at once.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "../../src/declare/caller.ts";
import { EventLog } from "../../src/event-log/event-log.ts";
import type { EventReader } from "../../src/events/event-reader.ts";
import { Position } from "../../src/events/position.ts";
import { PositionCursors } from "../../src/query/position-cursors.ts";
import type { VisibleEvents } from "../../src/subscriptions/visible-events.ts";

const callerOf = (tenantId: string): Caller => ({
  ...{ tenantId, kind: "key", userId: null, role: null, credentialId: "key" },
  scopes: new Set(["events:read"]),
});
const request = { filter: {}, isOldestFirst: false, limit: 100, cursor: undefined, isBackward: false };

test("few pages are read at once, tenants take turns, and too many requests are refused", async () => {
  const pending: (() => void)[] = [];
  const completeUntil = async (): Promise<Position> => {
    await new Promise<void>((resolve) => pending.push(resolve));
    return Position.start;
  };
  const log = new EventLog(
    { completeUntil } as Partial<EventReader> as EventReader,
    { resourcesOf: () => [] } as Partial<VisibleEvents> as VisibleEvents,
    new PositionCursors(["secret"], "events"),
  );
  const list = (tenantId: string, count: number) =>
    Array.from({ length: count }, () => log.list(callerOf(tenantId), request));
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const mine = list("tenant_a", 4 + 250);
  await assert.rejects(log.list(callerOf("tenant_a"), request), { code: "rate_limited" });
  await settle();
  assert.equal(pending.length, 4);
  const theirs = list("tenant_b", 10);
  await settle();
  assert.equal(pending.length, 8);
  const all = Promise.all([...mine, ...theirs]);
  for (let read = 0; read < mine.length + theirs.length; read++) {
    assert.ok(pending.length > 0 && pending.length <= 8);
    pending.shift()!();
    await settle();
  }
  assert.equal((await all).length, 264);
});
