// People who create their own account, and apps in which they cannot.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { app } from "../../../src/declare/app.ts";
import { composeApp } from "../../../src/runtime/compose.ts";
import { completeSettings } from "../../../src/runtime/settings/settings.ts";
import { Browser, type Shown } from "../../support/browser.ts";
import { emailsTo, emailTo, linkIn } from "../../support/emails.ts";
import {
  authorizeUrl,
  type CreatedClient,
  makePublicClient,
  obtainTokens,
  password,
} from "../../support/oauth.ts";
import { acceptLink, usersWithEmail } from "../../support/people.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/people");
const linkKind = "account.sign_up_link";
const existsKind = "account.sign_up_refused";

onEachDatabase("sign-up", (database) => {
  let client: CreatedClient;
  const server = serve(database, {
    cwd,
    prepare: async (started) => {
      client = await makePublicClient(started, "openid,email,projects:read,projects:write,users:write");
    },
  });
  const pageUrl = (clientId: string = client.clientId): string =>
    `${server.url}/oauth/sign-up?client_id=${clientId}`;
  const request = async (email: string, clientId?: string): Promise<Shown> => {
    const browser = new Browser();
    return browser.submit(await browser.open(pageUrl(clientId)), { email });
  };
  const linkFor = async (email: string, count = 1): Promise<string> => {
    const sent = await request(email);
    assert.equal(sent.status, 200, sent.text);
    return linkIn(await emailTo(server, email, linkKind, count));
  };

  test("a person follows the link of the sign-in page, uses the one in the email, and signs in", async () => {
    const browser = new Browser();
    const signIn = await browser.follow(authorizeUrl(server, client, "openid").url);
    const [, path] = /<a href="([^"]+)">Create an account<\/a>/.exec(signIn.text) ?? [];
    const page = await browser.open(new URL(path!.replaceAll("&amp;", "&"), server.url).href);
    assert.match(page.text, /for <strong>Planner<\/strong>/);
    const email = "New@example.com";
    assert.match((await browser.submit(page, { email })).text, /Check your email/);
    const link = linkIn(await emailTo(server, "new@example.com", linkKind));
    assert.deepEqual(await usersWithEmail(server, "new@example.com"), []);
    assert.match(
      (await acceptLink(link, { name: "Grace", role: "owner" }, browser)).text,
      /Your account is ready/,
    );
    const [user] = await usersWithEmail(server, "new@example.com");
    assert.partialDeepStrictEqual(user, { name: "Grace", role: "member", active: true });
    const tokens = await obtainTokens(server, client, user, "openid email projects:read users:write");
    assert.equal(tokens.scope, "openid email projects:read");
    const info = await server.request("/oauth/userinfo", { key: tokens.access_token });
    assert.partialDeepStrictEqual(info.body, { email: "new@example.com", email_verified: true });
  });

  test("a link works once: of ten concurrent uses, and of two links, one succeeds", async () => {
    const email = "once@example.com";
    const links = [await linkFor(email), await linkFor(email, 2)];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => acceptLink(links[0]!, { name: `N${index}` })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array(9).fill(400)]);
    const second = await acceptLink(links[1]!);
    assert.equal(second.status, 409);
    assert.equal((await usersWithEmail(server, email)).length, 1);
  });

  test("an address with an account gets the same response, and an email that says so", async () => {
    const user = await server.create("/users", { name: "Known", email: "known@example.com" });
    const inactive = await server.create("/users", {
      name: "Gone",
      email: "inactive@example.com",
      active: false,
    });
    const known = await request(user.email);
    const unknown = await request("unknown@example.com");
    const neutral = ({ text }: Shown) => text.replaceAll(/\w+@example\.com/g, "");
    assert.deepEqual([known.status, neutral(known)], [unknown.status, neutral(unknown)]);
    assert.equal((await request(inactive.email)).status, 200);
    await emailTo(server, user.email, existsKind);
    await emailTo(server, "unknown@example.com", linkKind);
    assert.deepEqual(await emailsTo(server, user.email, linkKind), []);
    for (const kind of [linkKind, existsKind])
      assert.deepEqual(await emailsTo(server, inactive.email, kind), []);
  });

  test("an account belongs to the tenant of the client, which has no owner by it", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Empty");
    const words = ["--type", "public", "--redirect-uri", "https://app.example.com/callback"];
    const theirs = await server.command(
      ...["client", "create", "--name", "Theirs", "--scopes", "openid", ...words, "--tenant", tenant.id],
    );
    const email = "first@example.com";
    assert.equal((await request(email, theirs.clientId)).status, 200);
    await acceptLink(linkIn(await emailTo(server, email, linkKind)));
    assert.deepEqual(await usersWithEmail(server, email), []);
    const { users } = await server.command("user", "list", "--tenant", tenant.id);
    assert.deepEqual(
      users.map((user: { email: string; role: string }) => [user.email, user.role]),
      [[email, "member"]],
    );
    const other = await makeTenant(server.workspace, "*", { cwd });
    assert.deepEqual(await usersWithEmail(server, email, { key: other.key }), []);
  });

  test("too many requests, wrong addresses, unknown clients and forged links are refused", async () => {
    const statuses = [];
    for (const _ of [1, 2, 3, 4]) statuses.push((await request("often@example.com")).status);
    assert.deepEqual(statuses, [200, 200, 200, 429]);
    for (const wrong of [
      ...["", "x", "a@b", "a@b@c", "a b@c", "a\u0001@x", "a,b@example.com", "<a>@example.com"],
      `${"x".repeat(250)}@example.com`,
    ])
      assert.equal((await request(wrong)).status, 422, wrong);
    for (const clientId of ["", "client_x", "client_00000000000000000000000000", "\u0000"])
      assert.equal((await new Browser().open(pageUrl(encodeURIComponent(clientId)))).status, 400, clientId);
    for (const token of ["", "x", "A".repeat(43), "\u0000"]) {
      const url = `${server.url}/oauth/sign-up?token=${encodeURIComponent(token)}`;
      assert.equal((await new Browser().open(url)).status, 400, token);
      const body = new URLSearchParams({ token, name: "X", password });
      const sent = await new Browser().open(`${server.url}/oauth/sign-up`, { method: "POST", body });
      assert.equal(sent.status, 400, token);
    }
    const headers = { "sec-fetch-site": "cross-site" };
    const body = new URLSearchParams({ client_id: client.clientId, email: "forged@example.com" });
    const forged = await new Browser().open(`${server.url}/oauth/sign-up`, { method: "POST", body, headers });
    assert.equal(forged.status, 403);
  });

  test("a link of a deleted client is refused", async () => {
    const short = await makePublicClient(server, "openid");
    await request("late@example.com", short.clientId);
    const link = linkIn(await emailTo(server, "late@example.com", linkKind));
    expectAnswer(await server.request(`/v1/oauth-clients/${short.id}`, { method: "DELETE" }), {
      status: 204,
    });
    assert.equal((await acceptLink(link)).status, 400);
  });
});

onEachDatabase("an app without sign-up", (database) => {
  const server = serve(database);

  test("has no page for it, and no link to it", async () => {
    const client = await makePublicClient(server, "openid");
    const signIn = await new Browser().follow(authorizeUrl(server, client, "openid").url);
    assert.doesNotMatch(signIn.text, /Create an account/);
    for (const query of ["", `?client_id=${client.clientId}`, "?token=x"]) {
      const url = `${server.url}/oauth/sign-up${query}`;
      assert.equal((await new Browser().open(url)).status, 404, query);
      const body = new URLSearchParams({ client_id: client.clientId, email: "closed@example.com" });
      assert.equal((await new Browser().open(url, { method: "POST", body })).status, 404);
    }
    await sleep(1_500);
    assert.deepEqual(await emailsTo(server, "closed@example.com", linkKind), []);
  });
});

const roles = { owner: "*", admin: ["users:read", "users:write"], member: ["users:read"] } as const;

for (const [declared, message] of [
  [{ signUp: "open" }, /signUp: "open" needs declared roles/],
  [{ signUp: "open", roles }, /signUp: "open" needs signUpRole/],
  [{ signUp: "open", roles, signUpRole: "boss" }, /signUpRole must be one of the roles owner, admin, member/],
  [{ signUp: "open", roles, signUpRole: "constructor" }, /signUpRole must be one of/],
  [{ signUp: "open", roles, signUpRole: 1 }, /signUpRole must be one of/],
  [{ signUp: "open", roles, signUpRole: "owner" }, /signUpRole is owner, whose scope \* affects other users/],
  [{ signUp: "open", roles, signUpRole: "admin" }, /whose scope users:write affects other users/],
  [{ signUp: "yes" }, /signUp must be one of closed, invited, open/],
  [{ signUp: null }, /signUp must be one of closed, invited, open/],
] as const)
  test(`${JSON.stringify(declared)} stops the start`, () => {
    // Without a compiler, a project can declare anything.
    assert.throws(() => app({ name: "Wrong", resources: [], ...(declared as object) }), { message });
  });

test("a closed app has no invitations", () => {
  const { model } = composeApp(
    app({ name: "Closed", resources: [], signUp: "closed" }),
    completeSettings({}, {}),
  );
  assert.equal(
    model.operations.some(({ path }) => path.startsWith("/invitations")),
    false,
  );
});
