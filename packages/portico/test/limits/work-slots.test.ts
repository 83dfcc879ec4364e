// How much long work may run at once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../src/errors.ts";
import { WorkSlots } from "../../src/limits/work-slots.ts";

const refusal = (code: string) => (error: unknown) =>
  error instanceof Problem && error.code === code && error.headers["Retry-After"] === "30";

test("a tenant has its slots, and the process has as many for all tenants together", () => {
  const slots = new WorkSlots("exports", { perTenant: 2, perProcess: 3 });
  const free = slots.take("tenant_1");
  slots.take("tenant_1");
  assert.throws(() => slots.take("tenant_1"), refusal("rate_limited"));
  slots.take("tenant_2");
  assert.throws(() => slots.take("tenant_2"), refusal("unavailable"));
  assert.throws(() => slots.take("tenant_1"), refusal("rate_limited"), "its own limit is reported first");
  free();
  free();
  slots.take("tenant_2");
  assert.throws(() => slots.take("tenant_3"), refusal("unavailable"), "a slot is freed only once");
});
