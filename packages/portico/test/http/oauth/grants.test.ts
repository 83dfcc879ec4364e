// `/v1/grants`: the access of applications to the account of the caller's user.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../support/browser.ts";
import { makeKey } from "../../support/keys.ts";
import {
  authorizeUrl,
  basic,
  type CreatedClient,
  makeClient,
  makePublicClient,
  makeUser,
  obtainTokens,
  post,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const path = "/v1/grants";
const scope = "openid posts:read clients:read clients:manage";

onEachDatabase("grants", (database) => {
  let client: CreatedClient;
  let user: User;
  const server = serve(database, {
    prepare: async (server) => {
      client = await makePublicClient(server, scope.replaceAll(" ", ","));
      user = await makeUser(server, "grace@example.com", "--role", "owner");
    },
  });
  const tokenOf = async (giver: User): Promise<string> =>
    (await obtainTokens(server, client, giver, scope)).access_token;

  test("a user sees each grant with its application, scopes and times", async () => {
    const key = await tokenOf(user);
    const answer = await server.request(path, { key });
    expectAnswer(answer, { status: 200 });
    const { data, pagination } = answer.body;
    assert.deepEqual(pagination, { nextCursor: null, hasMore: false });
    assert.equal(data.length, 1);
    const [{ id, clientId, clientName, scopes, createdAt, expiresAt, ...rest }] = data;
    assert.deepEqual(rest, {});
    assert.deepEqual([clientId, clientName, scopes.join(" ")], [client.clientId, "Planner", scope]);
    assert.match(id, /^[\w-]{20,}$/);
    assert.ok(createdAt < expiresAt && new Date(createdAt).toISOString() === createdAt);
  });

  test("a user does not see the grants of other users, of the same tenant or another one", async () => {
    await tokenOf(user);
    const other = await makeUser(server, "other@example.com", "--role", "owner");
    const seen = (await server.request(path, { key: await tokenOf(other) })).body.data;
    assert.equal(seen.length, 1);
    assert.deepEqual((await server.request(path)).body.data, []);
    const stranger = await makeTenant(server.workspace, "clients:read,clients:manage");
    assert.deepEqual((await server.request(path, { key: stranger.key })).body.data, []);
    const refused = await server.request(`${path}/${seen[0].id}`, { method: "DELETE", key: stranger.key });
    expectAnswer(refused, { status: 404, code: "not_found" });
  });

  test("a key lists the grants of its owner, whatever its scopes and the role", async () => {
    const member = await makeUser(server, "member@example.com");
    await obtainTokens(server, client, member, "openid posts:read");
    const { key } = await makeKey(server, { ownerId: member.id, scopes: ["posts:read"] });
    const answer = await server.request(path, { key });
    expectAnswer(answer, { status: 200 });
    const [{ id, scopes }] = answer.body.data;
    assert.deepEqual(scopes, ["openid", "posts:read"]);
    const revoked = await server.request(`${path}/${id}`, { method: "DELETE", key });
    expectAnswer(revoked, { status: 403, code: "insufficient_scope" });
  });

  test("an application without clients:read sees only what the user granted to itself", async () => {
    const person = await makeUser(server, "private@example.com", "--role", "owner");
    const other = await makePublicClient(server, "openid,posts:read");
    await tokenOf(person);
    const { access_token: key } = await obtainTokens(server, other, person, "openid posts:read");
    const { data } = (await server.request(path, { key })).body;
    assert.deepEqual(
      data.map((grant: { clientId: string }) => grant.clientId),
      [other.clientId],
    );
    const all = await server.request(path, { key: await tokenOf(person) });
    assert.equal(all.body.data.length, 3);
  });

  test("listing requires a user", async () => {
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "clients:read");
    const fields = { grant_type: "client_credentials", scope: "clients:read" };
    const { body } = await post(server, "/token", fields, basic(machine));
    expectAnswer(await server.request(path, { key: body.access_token }), { status: 403, code: "forbidden" });
    expectAnswer(await server.request(path, { key: null }), { status: 401 });
  });

  test("a revoked grant is not listed, and its tokens are refused within a second", async () => {
    const [first, second] = [await tokenOf(user), await tokenOf(user)];
    const { grant_id: id } = JSON.parse(Buffer.from(first.split(".")[1]!, "base64url").toString());
    assert.equal((await server.request(`${path}/${id}`, { method: "DELETE", key: second })).status, 204);
    await sleep(1_000);
    expectAnswer(await server.request("/posts", { key: first }), { status: 401, code: "invalid_credential" });
    const { data } = (await server.request(`${path}?limit=100`, { key: second })).body;
    assert.ok(data.length > 0 && data.every((grant: { id: string }) => grant.id !== id));
    expectAnswer(await server.request(`${path}/${id}`, { method: "DELETE", key: second }), { status: 404 });
  });

  test("grants are paged, newest first, and a cursor is valid for its user only", async () => {
    const many = await makeUser(server, "many@example.com", "--role", "owner");
    const key = await tokenOf(many);
    for (let more = 0; more < 4; more += 1)
      await signInAndAllow(new Browser(), authorizeUrl(server, client, "openid").url, many);
    const whole = (await server.request(path, { key })).body.data;
    assert.equal(whole.length, 5);
    const pages = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await server.request(`${path}?limit=2${cursor && `&cursor=${cursor}`}`, { key });
      pages.push(page.body.data);
      const link = page.headers.get("link");
      cursor = page.body.pagination.nextCursor;
      assert.equal(link, cursor === null ? null : `</v1/grants?limit=2&cursor=${cursor}>; rel="next"`);
    }
    assert.deepEqual(
      pages.map(({ length }) => length),
      [2, 2, 1],
    );
    assert.deepEqual(pages.flat(), whole);
    const dates = whole.map(({ createdAt }: { createdAt: string }) => createdAt);
    assert.deepEqual(dates, [...dates].sort().reverse());
    const { nextCursor } = (await server.request(`${path}?limit=2`, { key })).body.pagination;
    for (const [cursor, credential] of [
      [nextCursor, await tokenOf(user)],
      [`${nextCursor.slice(0, -2)}AA`, key],
      ["", key],
      ["x".repeat(9_000), key],
      ["%00", key],
    ])
      expectAnswer(await server.request(`${path}?cursor=${cursor}`, { key: credential }), {
        status: 400,
        code: "invalid_cursor",
      });
    expectAnswer(await server.request(`${path}?limit=%zz`, { key }), {
      status: 400,
      code: "malformed_request",
    });
    expectAnswer(await server.request(`${path}/x?force=true`, { method: "DELETE" }), {
      status: 422,
      details: [{ field: "force", issue: "unknown" }],
    });
    expectAnswer(await server.request(`${path}?sort=id&limit=1&limit=2`, { key }), {
      status: 422,
      details: [
        { field: "sort", issue: "unknown" },
        { field: "limit", issue: "duplicate" },
      ],
    });
  });
});
