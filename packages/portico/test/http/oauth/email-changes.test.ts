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
  makeClient,
  makePerson,
  makePublicClient,
  type OAuthClientMade,
  obtainTokens,
  type Person,
  password,
  post,
} from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import { changeDuringRequest } from "../../support/write-order.ts";

const scope = "openid email users:read users:write";
const changed = "account.email_changed";
const confirmation = "account.email_link";
const reset = "account.password_link";
/** Emails are written once a second. */
const soonMs = 2_500;

onEachDatabase("changed addresses", (database) => {
  let client: OAuthClientMade;
  const served = serve(database, {
    prepare: async (made) => {
      client = await makePublicClient(made, scope.replaceAll(" ", ","));
    },
  });
  const change = (id: string, email: string, key = served.portico.key) =>
    served.request(`/users/${id}`, { method: "PATCH", key, body: { email } });
  const emailOf = async ({ id }: Person): Promise<string> =>
    (await served.request(`/users/${id}`)).body.email;
  const tokensOf = (person: Person) => obtainTokens(served, client, person, scope);
  const forget = async (email: string): Promise<Shown> => {
    const browser = new Browser();
    const { text } = await browser.follow(authorizeUrl(served, client, scope).url);
    const [, path] = /<a href="([^"]+)">Forgot your password\?<\/a>/.exec(text) ?? [];
    const page = await browser.open(new URL(path!, served.url).href);
    return browser.submit(page, { email });
  };
  const confirm = async (link: string, fields: Record<string, string> = {}): Promise<Shown> => {
    const browser = new Browser();
    return browser.submit(await browser.open(link), fields);
  };

  test("one's own address stays until the new one is confirmed with the password", async () => {
    const person = await makePerson(served, "own@example.com");
    const { access_token: key } = await tokensOf(person);
    const answer = await change(person.id, "Own-New@example.com", key);
    expectAnswer(answer, { status: 200, body: { email: "own@example.com" } });
    const told = await emailTo(served, "own@example.com", changed);
    assert.match(told.text, /own-new@example\.com/);
    const link = linkIn(await emailTo(served, "own-new@example.com", confirmation));
    assert.equal(await emailOf(person), "own@example.com");
    assert.equal((await confirm(link)).status, 401);
    assert.equal((await confirm(link, { password: "not the password" })).status, 401);
    assert.equal(await emailOf(person), "own@example.com");
    const confirmed = await confirm(link, { password });
    assert.match(confirmed.text, /Your address is confirmed/);
    assert.equal(await emailOf(person), "own-new@example.com");
    assert.equal((await confirm(link, { password })).status, 400);
    const tokens = await tokensOf({ ...person, email: "own-new@example.com" });
    const { body } = await served.request("/oauth/userinfo", { key: tokens.access_token });
    assert.deepEqual([body.email, body.email_verified], ["own-new@example.com", true]);
  });

  test("an address that a key gives counts at once, and has no link to a new password before it is confirmed", async () => {
    const person = await makePerson(served, "given@example.com");
    assert.equal((await forget(person.email)).status, 200);
    const before = linkIn(await emailTo(served, person.email, reset));
    const moved = "given-new@example.com";
    expectAnswer(await change(person.id, moved), { status: 200, body: { email: moved } });
    assert.match((await emailTo(served, person.email, changed)).text, /given-new@example\.com/);
    await emailTo(served, moved, confirmation);
    assert.equal((await new Browser().open(before)).status, 400);

    assert.equal((await forget(moved)).status, 200);
    const link = linkIn(await emailTo(served, moved, confirmation, 2));
    await sleep(soonMs);
    assert.deepEqual(await emailsTo(served, moved, reset), []);
    assert.match((await confirm(link)).text, /Your address is confirmed/);
    assert.equal((await forget(moved)).status, 200);
    const opened = await new Browser().open(linkIn(await emailTo(served, moved, reset)));
    assert.match(opened.text, /Choose a new password/);
  });

  test("an address that is changed back is not confirmed either, and links of before stay dead", async () => {
    const person = await makePerson(served, "back@example.com");
    assert.equal((await forget(person.email)).status, 200);
    const link = linkIn(await emailTo(served, person.email, reset));
    assert.equal((await change(person.id, "forth@example.com")).status, 200);
    assert.equal((await change(person.id, person.email)).status, 200);
    assert.equal((await new Browser().open(link)).status, 400);
    const tokens = await tokensOf(person);
    const { body } = await served.request("/oauth/userinfo", { key: tokens.access_token });
    assert.equal(body.email_verified, false);
  });

  test("an application that acts for itself gives an address as a key does, in GraphQL as well", async () => {
    const person = await makePerson(served, "machine@example.com");
    const machine = await makeClient(served, "--type", "confidential", "--scopes", "users:read,users:write");
    const granted = await post(served, "/token", { grant_type: "client_credentials" }, basic(machine));
    const moved = "machine-new@example.com";
    const mutation = `mutation { updateUser(id: "${person.id}", input: { email: "${moved}" }) { email } }`;
    const { body } = await requestGraphql(served, mutation, { key: granted.body.access_token });
    assert.equal(body.data.updateUser.email, moved);
    await emailTo(served, person.email, changed);
    await forget(moved);
    await emailTo(served, moved, confirmation, 2);
    assert.deepEqual(await emailsTo(served, moved, reset), []);
  });

  for (const [fact, isPending] of [
    ["a confirmation", false],
    ["a confirmation of a pending address", true],
  ] as const) {
    test(`${fact} of a user who is deleted meanwhile is refused`, async () => {
      const person = await makePerson(served, `deleted-${isPending}@example.com`);
      const email = `deleted-${isPending}-new@example.com`;
      const { access_token: key } = await tokensOf(person);
      expectAnswer(await change(person.id, email, isPending ? key : undefined), { status: 200 });
      const browser = new Browser();
      const page = await browser.open(linkIn(await emailTo(served, email, confirmation)));
      const [deleted, confirming] = await changeDuringRequest(
        served,
        () => served.request(`/users/${person.id}`, { method: "DELETE" }),
        () => browser.submit(page, { password }),
      );
      assert.deepEqual([deleted.status, confirming.status], [204, 400]);
      assert.match(confirming.text, /This link has expired/);
    });
  }

  test("a new password of a user who is deleted meanwhile is refused", async () => {
    const person = await makePerson(served, "deleted-reset@example.com");
    await forget(person.email);
    const browser = new Browser();
    const page = await browser.open(linkIn(await emailTo(served, person.email, reset)));
    const [deleted, resetting] = await changeDuringRequest(
      served,
      () => served.request(`/users/${person.id}`, { method: "DELETE" }),
      () => browser.submit(page, { password: "another horse battery" }),
    );
    assert.deepEqual([deleted.status, resetting.status], [204, 400]);
  });

  test("an address set at creation gets password links", async () => {
    await served.create("/users", { name: "Created", email: "created@example.com" });
    await forget("created@example.com");
    await emailTo(served, "created@example.com", reset);
  });

  test("an address that another user has meanwhile is not confirmed", async () => {
    const person = await makePerson(served, "late@example.com");
    const { access_token: key } = await tokensOf(person);
    expectAnswer(await change(person.id, "wanted@example.com", key), { status: 200 });
    const link = linkIn(await emailTo(served, "wanted@example.com", confirmation));
    await served.create("/users", { name: "First", email: "wanted@example.com" });
    assert.equal((await confirm(link, { password })).status, 409);
    assert.equal(await emailOf(person), "late@example.com");
  });

  test("an address that is changed while the previous one is being confirmed stays unconfirmed", async () => {
    const person = await makePerson(served, "race@example.com");
    const [first, second] = ["race-1@example.com", "race-2@example.com"] as const;
    await change(person.id, first);
    const browser = new Browser();
    const page = await browser.open(linkIn(await emailTo(served, first, confirmation)));
    const [changing, confirming] = await changeDuringRequest(
      served,
      () => change(person.id, second),
      () => browser.submit(page, {}),
    );
    expectAnswer(changing, { status: 200, body: { email: second } });
    assert.match(confirming.text, /Your address is confirmed/);

    assert.equal(await emailOf(person), second);
    const tokens = await tokensOf({ ...person, email: second });
    const { body } = await served.request("/oauth/userinfo", { key: tokens.access_token });
    assert.equal(body.email_verified, false);
    await forget(second);
    const link = linkIn(await emailTo(served, second, confirmation));
    assert.deepEqual(await emailsTo(served, second, reset), []);
    assert.match((await confirm(link)).text, /Your address is confirmed/);
    await forget(second);
    await emailTo(served, second, reset);
  });

  test("changes in quick succession cause one email, so accounts cannot be used to send spam", async () => {
    const person = await makePerson(served, "many@example.com");
    const { access_token: key } = await tokensOf(person);
    await change(person.id, "many-1@example.com", key);
    await emailTo(served, "many-1@example.com", confirmation);
    for (const number of [2, 3, 4]) await change(person.id, `many-${number}@example.com`, key);
    await sleep(soonMs);
    for (const number of [2, 3, 4])
      assert.deepEqual(await emailsTo(served, `many-${number}@example.com`, confirmation), []);
  });
});
