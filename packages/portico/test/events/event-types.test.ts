// Event types, including those that earlier versions stored.

import assert from "node:assert/strict";
import { test } from "node:test";
import { currentEventType, eventType } from "../../src/events/event-type.ts";

test("an event type is the resource in snake_case and the kind of change", () => {
  assert.equal(eventType("post", "updated"), "post.updated");
  assert.equal(eventType("apiKey", "created"), "api_key.created");
});

test("types that earlier versions stored are read under their current names", () => {
  for (const [stored, current] of [
    ["post.created", "post.created"],
    ["post.changed", "post.updated"],
    ["post.removed", "post.deleted"],
    ["apiKey.changed", "api_key.updated"],
    ["api_key.deleted", "api_key.deleted"],
    // Not a type of any version.
    ["changed", "changed"],
    ["a.b.changed", "a.b.changed"],
    ["", ""],
  ] as const)
    assert.equal(currentEventType(stored), current);
});
