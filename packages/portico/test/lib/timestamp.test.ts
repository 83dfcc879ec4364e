// Timestamps: which texts are valid, and how they are normalized.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTimestamp } from "../../src/lib/timestamp.ts";

const timestamps: readonly (readonly [string, string | undefined])[] = [
  ["2026-11-21T09:30:00.000Z", "2026-11-21T09:30:00.000Z"],
  ["2026-11-21T09:30:00Z", "2026-11-21T09:30:00.000Z"],
  ["2026-11-21T09:30Z", "2026-11-21T09:30:00.000Z"],
  ["2026-11-21t09:30:00z", "2026-11-21T09:30:00.000Z"],
  ["2026-11-21T10:30:00+01:00", "2026-11-21T09:30:00.000Z"],
  ["2026-11-21T09:30:00.123456Z", "2026-11-21T09:30:00.123Z"],
  ["2026-11-21", "2026-11-21T00:00:00.000Z"],
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ["2026-11-21T09:30:00", undefined],
  ["2026-02-29", undefined],
  ["2026-02-30T00:00:00Z", undefined],
  ["2026-13-01", undefined],
  ["2026-11-21T25:00:00Z", undefined],
  ["0000-01-01T00:00:00Z", undefined],
  ["0001-01-01T00:00:00+14:00", undefined],
  ["9999-12-31T23:59:59-14:00", undefined],
  ["+012026-01-01", undefined],
  ["1", undefined],
  ["2026", undefined],
  ["11/21/2026", undefined],
  ["tomorrow 5", undefined],
  ["2026-11-21T09:30:00 02:00", undefined],
  ["", undefined],
];

for (const [text, normalized] of timestamps) {
  test(`'${text}' is ${normalized ?? "not a timestamp"}`, () =>
    assert.equal(parseTimestamp(text), normalized));
}
