// Ids: UUIDv7 in the format of TypeID, in increasing order.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isId, newId } from "../../src/lib/id.ts";

test("10,000 ids generated in a row are distinct and in order", () => {
  const ids = Array.from({ length: 10_000 }, () => newId("post"));
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual([...ids].sort(), ids);
  for (const id of ids) assert.ok(isId(id), id);
});

test("an id contains its resource and creation time", () => {
  const began = Date.now();
  const [prefix, suffix] = newId("api_key").split(/_(?=[^_]+$)/);
  assert.equal(prefix, "api_key");
  let value = 0n;
  for (const digit of suffix!)
    value = value * 32n + BigInt("0123456789abcdefghjkmnpqrstvwxyz".indexOf(digit));
  const hex = value.toString(16).padStart(32, "0");
  const timestamp = Number.parseInt(hex.slice(0, 12), 16);
  assert.ok(timestamp >= began - 1 && timestamp <= Date.now() + 1, `${timestamp} is not ${began}`);
  assert.equal(hex[12], "7", "the version of the UUID");
});

for (const text of [
  "",
  "post",
  "post_",
  "post_1",
  "1post_00000000000000000000000000",
  "Post_00000000000000000000000000",
  "post_0000000000000000000000000",
  "post_000000000000000000000000000",
  "post_80000000000000000000000000",
  "post_0000000000000000000000000i",
  "post_0000000000000000000000000L",
  "post_00000000000000000000000000\n",
  "post-00000000000000000000000000",
  `${"p".repeat(80)}_00000000000000000000000000`,
]) {
  test(`${JSON.stringify(text)} is not an id`, () => assert.equal(isId(text), false));
}
