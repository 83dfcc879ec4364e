// The authenticator accepts exactly the bytes of a key, and no variation.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { Authenticator } from "../../src/auth/authenticator.ts";
import { Problem } from "../../src/errors.ts";
import { onEachDatabase } from "../support/server.ts";
import { type KeyDatabase, makeKeyDatabase, noTokens } from "./key-database.ts";

const quota = { limit: 1000, windowSeconds: 60 };

onEachDatabase("the authenticator", (database) => {
  let keyDatabase: KeyDatabase;
  let authenticator: Authenticator;
  let keys: readonly string[] = [];
  before(async () => {
    keyDatabase = await makeKeyDatabase(database);
    authenticator = new Authenticator(keyDatabase.store, "test", quota, noTokens, { scopes: [], roles: [] });
    const types = ["secret", "secret", "publishable"];
    keys = (await Promise.all(types.map((type) => keyDatabase.create({ type })))).map(({ key }) =>
      String(key),
    );
  });
  after(() => keyDatabase.close());

  const present = (name: string, value: string, by = authenticator) =>
    by.caller({ headers: { [name]: value }, rawHeaders: [name, value] });
  const codeOf = async (name: string, value: string, by = authenticator): Promise<string | undefined> => {
    try {
      await present(name, value, by);
      return undefined;
    } catch (error) {
      assert.ok(error instanceof Problem, String(error));
      assert.ok([400, 401].includes(error.status));
      assert.ok(!error.message.includes(value) || value.length < 5);
      return error.code;
    }
  };

  test("a key has its tenant, scopes and quota", async () => {
    const caller = await present("x-api-key", keys[0]!);
    assert.equal(caller.tenantId, keyDatabase.caller.tenantId);
    assert.deepEqual([...caller.scopes], ["keys:read"]);
    assert.deepEqual(caller.quota, quota);
    const own = await keyDatabase.create({ rateLimit: { limit: 7 } });
    assert.deepEqual((await present("x-api-key", String(own.key))).quota, { limit: 7, windowSeconds: 60 });
  });

  test("concurrent callers with one key have their own addresses", async () => {
    const shown = { headers: { "x-api-key": keys[0]! }, rawHeaders: ["x-api-key", keys[0]!] };
    const addresses = ["192.0.2.1", "192.0.2.2", undefined, "192.0.2.1"];
    const callers = await Promise.all(addresses.map((address) => authenticator.caller(shown, address)));
    assert.deepEqual(
      callers.map(({ address }) => address),
      addresses,
    );
  });

  test("a publishable key has its tenant and no scope", async () => {
    const caller = await present("x-api-key", keys[2]!);
    assert.equal(caller.tenantId, keyDatabase.caller.tenantId);
    assert.equal(caller.scopes.size, 0);
  });

  test("every mutation of a key is refused, none with a server error", async () => {
    const anything = fc.string({ unit: "binary", maxLength: 60 });
    const position = fc.nat({ max: 50 });
    const mutation = fc.oneof(
      fc.record({
        kind: fc.constant("put" as const),
        index: position,
        text: fc.string({ minLength: 1, maxLength: 3 }),
      }),
      fc.record({
        kind: fc.constant("insert" as const),
        index: position,
        text: fc.string({ minLength: 1, maxLength: 60 }),
      }),
      fc.record({ kind: fc.constant("cut" as const), index: position, text: fc.constant("") }),
      fc.record({ kind: fc.constant("join" as const), index: position, text: anything }),
      fc.record({ kind: fc.constant("case" as const), index: position, text: fc.constant("") }),
      fc.record({ kind: fc.constant("swap" as const), index: position, text: fc.constant("") }),
    );
    const mutated = (
      key: string,
      other: string,
      { kind, index, text }: { kind: string; index: number; text: string },
    ): string => {
      const [start, end] = [key.slice(0, index), key.slice(index)];
      if (kind === "put") return `${start}${text}${key.slice(index + text.length)}`;
      if (kind === "insert") return `${start}${text}${end}`;
      if (kind === "cut") return `${start}${end.slice(1)}`;
      if (kind === "join") return index % 2 ? `${key}${text || " "}` : `${text || "x"}${key}`;
      if (kind === "case")
        return `${start}${end[0] === end[0]?.toLowerCase() ? end.toUpperCase() : end.toLowerCase()}`;
      return `${start}${other.slice(index)}`;
    };
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 2 }),
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("x-api-key", "authorization"),
        async (which, mutations, header) => {
          const [key, other] = [keys[which]!, keys[(which + 1) % 2]!];
          const sent = mutations.reduce((text, each) => mutated(text, other, each), key);
          // Spaces between the scheme and the key are not part of the key.
          fc.pre(!keys.includes(header === "authorization" ? sent.replace(/^ +/, "") : sent));
          const value = header === "authorization" ? `Bearer ${sent}` : sent;
          assert.notEqual(await codeOf(header, value), undefined, value);
        },
      ),
      { numRuns: 4_000 },
    );
    for (const key of keys) assert.equal(await codeOf("x-api-key", key), undefined);
  });

  test("every character of a key matters", async () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const key = keys[0]!;
    for (let index = 0; index < key.length; index += 1) {
      for (const character of alphabet) {
        if (character === key[index]) continue;
        const code = await codeOf("x-api-key", `${key.slice(0, index)}${character}${key.slice(index + 1)}`);
        assert.equal(code, "invalid_credential");
      }
    }
  });

  test("only the scheme and spaces may precede a key", async () => {
    const [key] = keys;
    for (const value of [`Bearer ${key}`, `bEARER   ${key}`])
      assert.equal(await codeOf("authorization", value), undefined);
    for (const value of [
      "",
      " ",
      key,
      `Bearer${key}`,
      `Bearer\t${key}`,
      `Bearer ${key} `,
      `Bearer ${key}\u00a0`,
      `Bearer ${key}\n`,
    ])
      assert.equal(await codeOf("authorization", String(value)), "invalid_credential", String(value));
  });

  test("a key of another environment is refused without a query", async () => {
    const closed = await makeKeyDatabase(database);
    await closed.close();
    const withoutDatabase = new Authenticator(closed.store, "test", quota, noTokens, {
      scopes: [],
      roles: [],
    });
    for (const kind of ["sk", "pk"])
      assert.equal(
        await codeOf("x-api-key", `${kind}_live_${"a".repeat(43)}`, withoutDatabase),
        "wrong_environment",
      );
    await assert.rejects(present("x-api-key", `sk_test_${"a".repeat(43)}`, withoutDatabase), (error) => {
      return !(error instanceof Problem) || error.status >= 500;
    });
  });
});
