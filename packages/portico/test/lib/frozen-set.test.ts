import assert from "node:assert/strict";
import { test } from "node:test";
import { RoleScopes } from "../../src/auth/role-scopes.ts";
import { FrozenSet } from "../../src/lib/frozen-set.ts";

test("a frozen set is read like any other, and cannot be changed", () => {
  const set: Set<string> = new FrozenSet(["a", "b"]);
  assert.deepEqual(
    [[...set], set.has("a"), set.size, set.isSubsetOf(new Set(["a", "b"]))],
    [["a", "b"], true, 2, true],
  );
  assert.deepEqual([...set.intersection(new Set(["b"])).add("c")], ["b", "c"]);
  for (const change of [() => set.add("c"), () => set.delete("a"), () => set.clear()])
    assert.throws(change, /TypeError: This set cannot be changed/);
  assert.deepEqual([...set], ["a", "b"]);
});

test("the scopes of credentials, which requests share, cannot be changed", () => {
  const roles = [{ name: "member", scopes: new Set(["posts:read", "users:read"]) }];
  const roleScopes = new RoleScopes({ roles }, (text) => new Set(text.split(" ")));
  for (const [text, role] of [
    ["posts:read", null],
    ["posts:read", "member"],
    ["posts:read posts:write", "member"],
    ["posts:read", "gone"],
  ] as const) {
    const { scopes, scopesOutsideRole } = roleScopes.of(text, role);
    for (const set of [scopes, scopesOutsideRole])
      if (set) assert.throws(() => (set as Set<string>).add("*"));
    assert.equal(roleScopes.of(text, role).scopes.has("*"), false);
  }
});
