// The bound on messages that are being sent.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageMemory } from "../../src/webhooks/message-memory.ts";

test("messages are added while the process and the tenant are below their bounds", () => {
  const memory = new MessageMemory({ total: 100, perTenant: 40 });
  assert.equal(memory.take("a", 30), true);
  assert.equal(memory.take("a", 30), true, "the last one may exceed the bound");
  assert.equal(memory.take("a", 1), false);
  assert.equal(memory.take("b", 40), true);
  assert.equal(memory.hasRoom("c"), false, "the process has no room");
  memory.free("b", 40);
  assert.equal(memory.take("c", 1), true);
  memory.free("a", 60);
  assert.equal(memory.hasRoom("a"), true);
});
