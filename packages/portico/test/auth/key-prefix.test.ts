// Prefixes of keys are unique: if a prefix exists already, another key is generated.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type GenerateKey, generateKey } from "../../src/auth/api-keys/format.ts";
import { Authenticator } from "../../src/auth/authenticator.ts";
import { onEachDatabase } from "../support/server.ts";
import { type KeyDatabase, makeKeyDatabase, noTokens, wholeResponse } from "./key-database.ts";

/** Generates keys with these prefixes in turn; the last one is repeated. */
function sequenceOf(prefixes: readonly string[]): { generate: GenerateKey; count: () => number } {
  let generated = 0;
  const generate: GenerateKey = (type, environment) => {
    const start = prefixes[Math.min(generated, prefixes.length - 1)]!;
    generated += 1;
    return `${generateKey(type, environment).slice(0, 8)}${start}${generateKey(type, environment).slice(12)}`;
  };
  return { generate, count: () => generated };
}

async function opens({ store }: KeyDatabase, key: unknown): Promise<boolean> {
  const authenticator = new Authenticator(store, "test", { limit: 1, windowSeconds: 1 }, noTokens, {
    scopes: [],
    roles: [],
  });
  const rawHeaders = ["X-API-Key", String(key)];
  return authenticator.caller({ headers: { "x-api-key": String(key) }, rawHeaders }).then(
    () => true,
    () => false,
  );
}

onEachDatabase("the prefix of a key", (database) => {
  test("a prefix that exists causes a retry with another key, which the response does not show", async () => {
    const { generate, count } = sequenceOf(["aaaa", "aaaa", "aaaa", "bbbb"]);
    const keyDatabase = await makeKeyDatabase(database, { generate });
    try {
      const [first, second] = [await keyDatabase.create(), await keyDatabase.create()];
      assert.deepEqual([first.prefix, second.prefix], ["sk_test_aaaa", "sk_test_bbbb"]);
      assert.equal(count(), 4);
      for (const created of [first, second]) {
        assert.equal(String(created.key).slice(0, 12), created.prefix);
        assert.equal(await opens(keyDatabase, created.key), true);
      }
    } finally {
      await keyDatabase.close();
    }
  });

  test("a rotation retries too", async () => {
    const { generate, count } = sequenceOf(["aaaa", "aaaa", "aaaa", "cccc"]);
    const notifications: string[] = [];
    const notices = {
      created: async () => void notifications.push("created"),
      rotated: async () => void notifications.push("rotated"),
      revoked: async () => void notifications.push("revoked"),
    };
    const keyDatabase = await makeKeyDatabase(database, { generate, notices });
    try {
      const { engine, keys, caller } = keyDatabase;
      const old = await keyDatabase.create();
      const action = keys.actions.get("rotations")!;
      const replacement = wholeResponse(await engine.runAction(caller, keys, String(old.id), action, {}));
      assert.equal(replacement.prefix, "sk_test_cccc");
      assert.equal(String(replacement.key).slice(0, 12), replacement.prefix);
      assert.equal(count(), 4);
      assert.deepEqual(notifications, ["created", "rotated"]);
      for (const { key } of [old, replacement]) assert.equal(await opens(keyDatabase, key), true);
    } finally {
      await keyDatabase.close();
    }
  });

  test("concurrent keys with the same prefix are all created", async () => {
    const starts = ["aaaa", "aaaa", "aaaa", "bbbb", "bbbb", "aaaa", "cccc", "bbbb", "aaaa"];
    const rest = Array.from({ length: 20 }, (_, at) => `d${String(at).padStart(3, "0")}`);
    const { generate } = sequenceOf([...starts, ...rest]);
    const keyDatabase = await makeKeyDatabase(database, { generate });
    try {
      const created = await Promise.all(Array.from({ length: 6 }, () => keyDatabase.create()));
      assert.equal(new Set(created.map(({ prefix }) => prefix)).size, 6);
      for (const { key } of created) assert.equal(await opens(keyDatabase, key), true);
    } finally {
      await keyDatabase.close();
    }
  });

  test("if no prefix is free, the retries end and nothing is stored", async () => {
    const { generate, count } = sequenceOf(["aaaa"]);
    const keyDatabase = await makeKeyDatabase(database, { generate });
    try {
      const { id } = await keyDatabase.create();
      await assert.rejects(keyDatabase.create(), { code: "conflict" });
      assert.equal(count(), 51);
      const { engine, keys, caller } = keyDatabase;
      const action = keys.actions.get("rotations")!;
      await assert.rejects(engine.runAction(caller, keys, String(id), action, {}), { code: "conflict" });
      const [[events]] = (await keyDatabase.store.database.query(
        { sql: "select count(*) from events", bind: () => [] },
        undefined,
      )) as [[unknown]];
      assert.equal(Number(events), 1);
    } finally {
      await keyDatabase.close();
    }
  });
});
