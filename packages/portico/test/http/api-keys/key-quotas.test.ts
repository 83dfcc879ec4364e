// Quotas of keys that other keys create, change and rotate: no key grants more than it has.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Expected, expectAnswer, serve, type TestServer } from "../../support/scenario.ts";
import { onEachDatabase, portico } from "../../support/server.ts";

interface CreatedKey {
  readonly id: string;
  readonly key: string;
}

/** Creates a key as the operator. */
async function make(server: TestServer, quota?: string): Promise<CreatedKey> {
  const scopes = ["--scopes", "keys:read,keys:manage"];
  const own = quota === undefined ? [] : ["--rate-limit", quota];
  return (await server.command("key", "create", "--name", "x", ...scopes, ...own)) as unknown as CreatedKey;
}

onEachDatabase("quotas that keys grant", (database) => {
  const server = serve(database, { env: { PORTICO_KEY_QUOTA: "1000/60" } });
  const body = (rateLimit?: object | null) => ({
    ...{ name: "theirs", scopes: ["keys:read"] },
    ...(rateLimit !== undefined && { rateLimit }),
  });
  const refused: Expected = {
    ...{ status: 403, code: "forbidden" },
    details: [{ field: "rateLimit", issue: "max" }],
  };
  const patch = (key: string, id: string, rateLimit: object | null) =>
    server.request(`/v1/api-keys/${id}`, { method: "PATCH", key, body: { rateLimit } });

  test("a key cannot raise its own quota, but can lower it", async () => {
    const few = await make(server, "100/60");
    for (const more of [
      { limit: 101 },
      { limit: 100, windowSeconds: 59 },
      { limit: 200, windowSeconds: 120 },
      { limit: 1_000_000_000, windowSeconds: 86_400 },
      null,
    ])
      expectAnswer(await patch(few.key, few.id, more), refused);
    expectAnswer(await patch(few.key, few.id, { limit: 100 }), { status: 200 });
    expectAnswer(await patch(few.key, few.id, { limit: 50 }), { status: 200 });
    expectAnswer(await patch(few.key, few.id, { limit: 100 }), refused);
    const replace = {
      method: "PUT",
      key: few.key,
      body: { ...body(), scopes: ["keys:read", "keys:manage"] },
    };
    expectAnswer(await server.request(`/v1/api-keys/${few.id}`, replace), refused);
  });

  test("a key with the standard quota cannot grant more than that", async () => {
    const standard = await make(server);
    expectAnswer(await patch(standard.key, standard.id, { limit: 1_001 }), refused);
    const post = (rateLimit?: object | null) =>
      server.request("/v1/api-keys", { key: standard.key, body: body(rateLimit) });
    expectAnswer(await post({ limit: 1_000_000 }), refused);
    expectAnswer(await post({ limit: 1_000, windowSeconds: 1 }), refused);
    expectAnswer(await post({ limit: 1_000, windowSeconds: 60 }), { status: 201 });
    expectAnswer(await post(), { status: 201, body: { rateLimit: null } });
  });

  test("a key with less than the standard quota creates keys with its own", async () => {
    const few = await make(server, "100/60");
    const post = (rateLimit?: object | null) =>
      server.request("/v1/api-keys", { key: few.key, body: body(rateLimit) });
    for (const nothing of [undefined, null])
      expectAnswer(await post(nothing), {
        status: 201,
        body: { rateLimit: { limit: 100, windowSeconds: 60 } },
      });
    expectAnswer(await post({ limit: 101 }), refused);
    expectAnswer(await post({ limit: 10 }), { status: 201 });
  });

  test("a rotation cannot grant more than the caller has", async () => {
    const [few, standard, many] = [
      await make(server, "100/60"),
      await make(server),
      await make(server, "5000/60"),
    ];
    const rotate = (by: CreatedKey, which: CreatedKey) =>
      server.request(`/v1/api-keys/${which.id}/rotations`, { key: by.key, body: {} });
    expectAnswer(await rotate(few, standard), refused);
    expectAnswer(await rotate(standard, many), refused);
    expectAnswer(await rotate(many, standard), { status: 201, body: { rateLimit: null } });
    expectAnswer(await rotate(many, many), {
      status: 201,
      body: { rateLimit: { limit: 5_000, windowSeconds: 60 } },
    });
    expectAnswer(await rotate(few, few), {
      status: 201,
      body: { rateLimit: { limit: 100, windowSeconds: 60 } },
    });
  });

  test("a caller with more can grant it, and others can only keep or lower it", async () => {
    const [standard, many] = [await make(server), await make(server, "5000/60")];
    expectAnswer(await patch(many.key, standard.id, { limit: 4_000 }), { status: 200 });
    const other = await make(server);
    expectAnswer(await patch(other.key, standard.id, { limit: 3_000 }), { status: 200 });
    expectAnswer(await patch(other.key, standard.id, { limit: 4_000 }), refused);
    const renamed = await server.request(`/v1/api-keys/${many.id}`, {
      ...{ method: "PATCH", key: other.key },
      body: { name: "renamed" },
    });
    expectAnswer(renamed, { status: 200 });
  });

  test("commands take a quota as settings do", async () => {
    const change = (id: string, ...words: string[]) =>
      portico(server.portico.workspace, ["key", "update", id, ...words]);
    const { id } = await make(server, "1000/120");
    const quota = async (): Promise<unknown> => (await server.request(`/v1/api-keys/${id}`)).body.rateLimit;
    assert.deepEqual(await quota(), { limit: 1_000, windowSeconds: 120 });
    await change(id, "--rate-limit", "10/30");
    assert.deepEqual(await quota(), { limit: 10, windowSeconds: 30 });
    await change(id, "--rate-limit", "20", "--rate-window", "5");
    assert.deepEqual(await quota(), { limit: 20, windowSeconds: 5 });
    for (const wrong of [["1000/"], ["0/60"], ["10/60", "--rate-window", "60"], ["many"]]) {
      const { code, stderr } = await change(id, "--rate-limit", ...wrong);
      assert.equal(code, 1);
      assert.match(stderr, /^portico: --rate-limit [^\n]+\n$/);
    }
  });
});
