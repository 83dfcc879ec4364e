// `/v1/grants`: the access of applications to the account of the caller's user.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../support/browser.ts";
import {
  authorizeUrl,
  basic,
  makeClient,
  makePerson,
  makePublicClient,
  type OAuthClientMade,
  obtainTokens,
  type Person,
  post,
  signInAndAllow,
} from "../../support/oauth.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const path = "/v1/grants";
const scope = "openid posts:read clients:read clients:manage";

onEachDatabase("grants", (database) => {
  let client: OAuthClientMade;
  let person: Person;
  const served = serve(database, {
    prepare: async (made) => {
      client = await makePublicClient(made, scope.replaceAll(" ", ","));
      person = await makePerson(made, "grace@example.com");
    },
  });
  const tokenOf = async (giver: Person): Promise<string> =>
    (await obtainTokens(served, client, giver, scope)).access_token;

  test("a user sees each grant with its application, scopes and times", async () => {
    const key = await tokenOf(person);
    const answer = await served.request(path, { key });
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
    await tokenOf(person);
    const other = await makePerson(served, "other@example.com");
    const seen = (await served.request(path, { key: await tokenOf(other) })).body.data;
    assert.equal(seen.length, 1);
    assert.deepEqual((await served.request(path)).body.data, []);
    const stranger = await makeTenant(served.workspace, "clients:read,clients:manage");
    assert.deepEqual((await served.request(path, { key: stranger.key })).body.data, []);
    const refused = await served.request(`${path}/${seen[0].id}`, { method: "DELETE", key: stranger.key });
    expectAnswer(refused, { status: 404, code: "not_found" });
  });

  test("listing requires clients:read and a user", async () => {
    const reader = await obtainTokens(served, client, person, "openid posts:read");
    expectAnswer(await served.request(path, { key: reader.access_token }), {
      status: 403,
      code: "insufficient_scope",
      headers: { "www-authenticate": /scope="clients:read"/ },
    });
    const machine = await makeClient(served, "--type", "confidential", "--scopes", "clients:read");
    const fields = { grant_type: "client_credentials", scope: "clients:read" };
    const { body } = await post(served, "/token", fields, basic(machine));
    expectAnswer(await served.request(path, { key: body.access_token }), { status: 403, code: "forbidden" });
    expectAnswer(await served.request(path, { key: null }), { status: 401 });
  });

  test("a revoked grant is not listed, and its tokens are refused within a second", async () => {
    const [first, second] = [await tokenOf(person), await tokenOf(person)];
    const { grant_id: id } = JSON.parse(Buffer.from(first.split(".")[1]!, "base64url").toString());
    assert.equal((await served.request(`${path}/${id}`, { method: "DELETE", key: second })).status, 204);
    await sleep(1_000);
    expectAnswer(await served.request("/posts", { key: first }), { status: 401, code: "invalid_credential" });
    const { data } = (await served.request(`${path}?limit=100`, { key: second })).body;
    assert.ok(data.length > 0 && data.every((grant: { id: string }) => grant.id !== id));
    expectAnswer(await served.request(`${path}/${id}`, { method: "DELETE", key: second }), { status: 404 });
  });

  test("grants are paged, newest first, and a cursor is valid for its user only", async () => {
    const many = await makePerson(served, "many@example.com");
    const key = await tokenOf(many);
    for (let more = 0; more < 4; more += 1)
      await signInAndAllow(new Browser(), authorizeUrl(served, client, "openid").url, many);
    const whole = (await served.request(path, { key })).body.data;
    assert.equal(whole.length, 5);
    const pages = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await served.request(`${path}?limit=2${cursor && `&cursor=${cursor}`}`, { key });
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
    const { nextCursor } = (await served.request(`${path}?limit=2`, { key })).body.pagination;
    for (const [cursor, credential] of [
      [nextCursor, await tokenOf(person)],
      [`${nextCursor.slice(0, -2)}AA`, key],
      ["", key],
      ["x".repeat(9_000), key],
      ["%00", key],
    ])
      expectAnswer(await served.request(`${path}?cursor=${cursor}`, { key: credential }), {
        status: 400,
        code: "invalid_cursor",
      });
    expectAnswer(await served.request(`${path}?limit=%zz`, { key }), {
      status: 400,
      code: "malformed_request",
    });
    expectAnswer(await served.request(`${path}/x?force=true`, { method: "DELETE" }), {
      status: 422,
      details: [{ field: "force", issue: "unknown" }],
    });
    expectAnswer(await served.request(`${path}?sort=id&limit=1&limit=2`, { key }), {
      status: 422,
      details: [
        { field: "sort", issue: "unknown" },
        { field: "limit", issue: "duplicate" },
      ],
    });
  });
});
