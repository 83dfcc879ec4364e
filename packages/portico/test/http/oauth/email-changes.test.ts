// Changes of email addresses: the new one is confirmed before it can be used, and the previous one is notified.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser, type Shown } from "../../support/browser.ts";
import { emailsTo, emailTo, linkIn } from "../../support/emails.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import {
  authorizeUrl,
  basic,
  type CreatedClient,
  makeClient,
  makePublicClient,
  makeUser,
  obtainTokens,
  password,
  post,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";
import { changeDuringRequest } from "../../support/write-order.ts";

/** Only some roles may write users. */
const owner = ["--role", "owner"];
const scope = "openid email users:read users:write";
const changed = "account.email_changed";
const confirmation = "account.email_link";
const reset = "account.password_link";
/** Longer than the interval at which emails are written, one second. */
const soonMs = 2_500;

onEachDatabase("changed addresses", (database) => {
  let client: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      client = await makePublicClient(server, scope.replaceAll(" ", ","));
    },
  });
  /** PostgreSQL may also let the other write come before the deletion. */
  const expectDeleted = (deleted: Answer, { status, text }: Shown): void => {
    assert.equal(deleted.status, 204);
    if (database === "postgres" && status === 200) return;
    assert.equal(status, 400, text);
    assert.match(text, /This link has expired/);
  };
  const change = (id: string, email: string, key = server.portico.key) =>
    server.request(`/users/${id}`, { method: "PATCH", key, body: { email } });
  const emailOf = async ({ id }: User): Promise<string> => (await server.request(`/users/${id}`)).body.email;
  const tokensOf = (user: User) => obtainTokens(server, client, user, scope);
  const requestPasswordLink = async (email: string): Promise<Shown> => {
    const browser = new Browser();
    const { text } = await browser.follow(authorizeUrl(server, client, scope).url);
    const [, path] = /<a href="([^"]+)">Forgot your password\?<\/a>/.exec(text) ?? [];
    const page = await browser.open(new URL(path!, server.url).href);
    return browser.submit(page, { email });
  };
  const confirm = async (link: string, fields: Record<string, string> = {}): Promise<Shown> => {
    const browser = new Browser();
    return browser.submit(await browser.open(link), fields);
  };

  test("a user's address does not change until the new one is confirmed with the password", async () => {
    const user = await makeUser(server, "own@example.com", ...owner);
    const { access_token: key } = await tokensOf(user);
    const answer = await change(user.id, "Own-New@example.com", key);
    expectAnswer(answer, { status: 200, body: { email: "own@example.com" } });
    const email = await emailTo(server, "own@example.com", changed);
    assert.match(email.text, /own-new@example\.com/);
    const link = linkIn(await emailTo(server, "own-new@example.com", confirmation));
    assert.equal(await emailOf(user), "own@example.com");
    assert.equal((await confirm(link)).status, 401);
    assert.equal((await confirm(link, { password: "not the password" })).status, 401);
    assert.equal(await emailOf(user), "own@example.com");
    const confirmed = await confirm(link, { password });
    assert.match(confirmed.text, /Your address is confirmed/);
    assert.equal(await emailOf(user), "own-new@example.com");
    assert.equal((await confirm(link, { password })).status, 400);
    const tokens = await tokensOf({ ...user, email: "own-new@example.com" });
    const { body } = await server.request("/oauth/userinfo", { key: tokens.access_token });
    assert.deepEqual([body.email, body.email_verified], ["own-new@example.com", true]);
  });

  test("an address that a key sets is valid immediately, but gets no password link before it is confirmed", async () => {
    const user = await makeUser(server, "key-changed@example.com", ...owner);
    assert.equal((await requestPasswordLink(user.email)).status, 200);
    const before = linkIn(await emailTo(server, user.email, reset));
    const moved = "key-changed-new@example.com";
    expectAnswer(await change(user.id, moved), { status: 200, body: { email: moved } });
    assert.match((await emailTo(server, user.email, changed)).text, /key-changed-new@example\.com/);
    await emailTo(server, moved, confirmation);
    assert.equal((await new Browser().open(before)).status, 400);

    assert.equal((await requestPasswordLink(moved)).status, 200);
    const link = linkIn(await emailTo(server, moved, confirmation, 2));
    await sleep(soonMs);
    assert.deepEqual(await emailsTo(server, moved, reset), []);
    assert.match((await confirm(link)).text, /Your address is confirmed/);
    assert.equal((await requestPasswordLink(moved)).status, 200);
    const opened = await new Browser().open(linkIn(await emailTo(server, moved, reset)));
    assert.match(opened.text, /Choose a new password/);
  });

  test("an address that is changed back is unconfirmed, and earlier links stay invalid", async () => {
    const user = await makeUser(server, "back@example.com", ...owner);
    assert.equal((await requestPasswordLink(user.email)).status, 200);
    const link = linkIn(await emailTo(server, user.email, reset));
    assert.equal((await change(user.id, "forth@example.com")).status, 200);
    assert.equal((await change(user.id, user.email)).status, 200);
    assert.equal((await new Browser().open(link)).status, 400);
    const tokens = await tokensOf(user);
    const { body } = await server.request("/oauth/userinfo", { key: tokens.access_token });
    assert.equal(body.email_verified, false);
  });

  test("an application that acts for itself sets an address as a key does, also in GraphQL", async () => {
    const user = await makeUser(server, "machine@example.com");
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "users:read,users:write");
    const granted = await post(server, "/token", { grant_type: "client_credentials" }, basic(machine));
    const moved = "machine-new@example.com";
    const mutation = `mutation { updateUser(id: "${user.id}", input: { email: "${moved}" }) { email } }`;
    const { body } = await requestGraphql(server, mutation, { key: granted.body.access_token });
    assert.equal(body.data.updateUser.email, moved);
    await emailTo(server, user.email, changed);
    await requestPasswordLink(moved);
    await emailTo(server, moved, confirmation, 2);
    assert.deepEqual(await emailsTo(server, moved, reset), []);
  });

  for (const [fact, isPending] of [
    ["a confirmation", false],
    ["a confirmation of a pending address", true],
  ] as const) {
    test(`${fact} of a user who is deleted meanwhile is refused`, async () => {
      const user = await makeUser(server, `deleted-${isPending}@example.com`, ...owner);
      const email = `deleted-${isPending}-new@example.com`;
      const { access_token: key } = await tokensOf(user);
      expectAnswer(await change(user.id, email, isPending ? key : undefined), { status: 200 });
      const browser = new Browser();
      const page = await browser.open(linkIn(await emailTo(server, email, confirmation)));
      const [deleted, confirming] = await changeDuringRequest(
        server,
        () => server.request(`/users/${user.id}`, { method: "DELETE" }),
        () => browser.submit(page, { password }),
        user.id,
      );
      expectDeleted(deleted, confirming);
    });
  }

  test("a new password of a user who is deleted meanwhile is refused", async () => {
    const user = await makeUser(server, "deleted-reset@example.com", ...owner);
    await requestPasswordLink(user.email);
    const browser = new Browser();
    const page = await browser.open(linkIn(await emailTo(server, user.email, reset)));
    const [deleted, resetting] = await changeDuringRequest(
      server,
      () => server.request(`/users/${user.id}`, { method: "DELETE" }),
      () => browser.submit(page, { password: "another horse battery" }),
      user.id,
    );
    expectDeleted(deleted, resetting);
  });

  test("an address set at creation gets password links", async () => {
    await server.create("/users", { name: "Created", email: "created@example.com" });
    await requestPasswordLink("created@example.com");
    await emailTo(server, "created@example.com", reset);
  });

  test("an address that another user has meanwhile is not confirmed", async () => {
    const user = await makeUser(server, "late@example.com", ...owner);
    const { access_token: key } = await tokensOf(user);
    expectAnswer(await change(user.id, "wanted@example.com", key), { status: 200 });
    const link = linkIn(await emailTo(server, "wanted@example.com", confirmation));
    await server.create("/users", { name: "First", email: "wanted@example.com" });
    assert.equal((await confirm(link, { password })).status, 409);
    assert.equal(await emailOf(user), "late@example.com");
  });

  test("an address that is changed while the previous one is being confirmed stays unconfirmed", async () => {
    const user = await makeUser(server, "race@example.com", ...owner);
    const [first, second] = ["race-1@example.com", "race-2@example.com"] as const;
    await change(user.id, first);
    const browser = new Browser();
    const page = await browser.open(linkIn(await emailTo(server, first, confirmation)));
    const [changing, confirming] = await changeDuringRequest(
      server,
      () => change(user.id, second),
      () => browser.submit(page, {}),
    );
    expectAnswer(changing, { status: 200, body: { email: second } });
    assert.match(confirming.text, /Your address is confirmed/);

    assert.equal(await emailOf(user), second);
    const tokens = await tokensOf({ ...user, email: second });
    const { body } = await server.request("/oauth/userinfo", { key: tokens.access_token });
    assert.equal(body.email_verified, false);
    await requestPasswordLink(second);
    const link = linkIn(await emailTo(server, second, confirmation));
    assert.deepEqual(await emailsTo(server, second, reset), []);
    assert.match((await confirm(link)).text, /Your address is confirmed/);
    await requestPasswordLink(second);
    await emailTo(server, second, reset);
  });

  test("changes in quick succession cause one email, so accounts cannot be used to send spam", async () => {
    const user = await makeUser(server, "many@example.com", ...owner);
    const { access_token: key } = await tokensOf(user);
    await change(user.id, "many-1@example.com", key);
    await emailTo(server, "many-1@example.com", confirmation);
    for (const number of [2, 3, 4]) await change(user.id, `many-${number}@example.com`, key);
    await sleep(soonMs);
    for (const number of [2, 3, 4])
      assert.deepEqual(await emailsTo(server, `many-${number}@example.com`, confirmation), []);
  });
});
