// The pages /members and /account: who may do what there, and what the forms change.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { Browser, type Shown } from "../../support/browser.ts";
import { emailsTo, emailTo, linkIn } from "../../support/emails.ts";
import {
  authorizeUrl,
  type CreatedClient,
  makePublicClient,
  makeUser,
  password,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { acceptLink, invitationKind, invitationLink, usersWithEmail } from "../../support/people.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/people");

onEachDatabase("pages for people", (database) => {
  let client: CreatedClient;
  const server = serve(database, {
    cwd,
    prepare: async (started) => {
      client = await makePublicClient(started, "openid,projects:read");
    },
  });
  let count = 0;
  const newUser = async (role = "member"): Promise<User> => {
    count += 1;
    const user = await makeUser(server, `person${count}@example.com`);
    expectAnswer(await server.request(`/users/${user.id}`, { method: "PATCH", body: { role } }), {
      status: 200,
    });
    return user;
  };
  const signedIn = async (user: User): Promise<Browser> => {
    const browser = new Browser();
    await signInAndAllow(browser, authorizeUrl(server, client, "openid").url, user);
    return browser;
  };
  const url = (path: string): string => `${server.url}/oauth${path}`;
  const stateOf = async (user: User) => (await server.request(`/users/${user.id}`)).body;

  /** The page of members, and a function that submits one of its forms. */
  const members = async (user: User) => {
    const browser = await signedIn(user);
    const page = await browser.open(url("/members?q=person"));
    assert.equal(page.status, 200, page.text);
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)![1]!;
    const submit = (fields: Readonly<Record<string, string>>): Promise<Shown> =>
      browser.open(url("/members?q=person"), {
        method: "POST",
        body: new URLSearchParams({ csrf, ...fields }),
      });
    return { browser, page, submit };
  };

  test("somebody with users:write gives roles, and deactivates and activates users", async () => {
    const [admin, other] = [await newUser("admin"), await newUser()];
    const { browser, page, submit } = await members(admin);
    assert.ok(page.text.includes(other.email));
    const form = page.text.match(new RegExp(`<form(?:(?!</form>).)*value="${other.id}".*?</form>`, "s"))![0];
    assert.deepEqual(
      [...form.matchAll(/<option[^>]*>(\w+)/g)].map(([, role]) => role),
      ["admin", "support", "member"],
      "only the roles that the person may give",
    );
    const changed = await submit({ user: other.id, change: "role", role: "support" });
    assert.deepEqual([changed.status, changed.location], [303, url("/members?q=person")]);
    assert.equal((await stateOf(other)).role, "support");
    assert.equal((await submit({ user: other.id, change: "deactivate", role: "support" })).status, 303);
    assert.equal((await stateOf(other)).active, false);
    assert.match((await browser.open(url("/members"))).text, /support, deactivated/);
    assert.equal((await submit({ user: other.id, change: "activate" })).status, 303);
    assert.equal((await stateOf(other)).active, true);
    const nobody = await browser.open(url("/members?q=nobody-has-this-name"));
    assert.match(nobody.text, /Nobody was found/);
  });

  test("a role above one's own, oneself above it, and users of higher roles are refused as in the API", async () => {
    const [admin, other] = [await newUser("admin"), await newUser()];
    const owner = await newUser("owner");
    const { submit } = await members(admin);
    const higher = await submit({ user: other.id, change: "role", role: "owner" });
    assert.equal(higher.status, 403);
    assert.match(higher.text, /You lack the scope .* of the role owner/);
    assert.equal((await submit({ user: admin.id, change: "role", role: "owner" })).status, 403);
    for (const change of ["role", "deactivate"])
      assert.equal((await submit({ user: owner.id, change, role: "member" })).status, 403);
    assert.equal((await submit({ change: "invite", email: "x@example.com", role: "owner" })).status, 403);
    const { page } = await members(admin);
    assert.ok(page.text.includes(owner.email) && !page.text.includes(`value="${owner.id}"`));
    const stranger = await makeTenant(server.workspace, "*", { cwd });
    assert.equal((await submit({ user: stranger.userId, change: "deactivate" })).status, 404);
    const wrong: readonly Readonly<Record<string, string>>[] = [
      { user: "user_x", change: "deactivate" },
      { user: "\u00a0", change: "role", role: "boss" },
      { user: other.id, change: "role", role: "boss" },
      { user: other.id, change: "role" },
      { invitation: other.id, change: "send" },
    ];
    for (const fields of wrong)
      assert.ok([404, 422].includes((await submit(fields)).status), JSON.stringify(fields));
    for (const change of ["", "constructor", "delete"])
      assert.equal((await submit({ user: other.id, change })).status, 403, change);
    assert.partialDeepStrictEqual(await stateOf(other), { role: "member", active: true });
  });

  test("people are invited, invitations sent again and withdrawn", async () => {
    const { browser, submit } = await members(await newUser("admin"));
    const email = `page-invited-${database}@example.com`;
    assert.equal((await submit({ change: "invite", email: ` ${email}`, role: "support" })).status, 303);
    const link = await invitationLink(server, email);
    const page = await browser.open(url("/members"));
    const [, id] = /name="invitation" value="([^"]+)"/.exec(page.text)!;
    const again = await submit({ change: "invite", email, role: "support" });
    assert.equal(again.status, 409);
    assert.match(again.text, /invited already/);
    assert.equal((await submit({ change: "send", invitation: id! })).status, 303);
    await emailTo(server, email, invitationKind, 2);
    assert.equal((await submit({ change: "invite", email: "no address", role: "support" })).status, 422);
    assert.equal((await submit({ change: "withdraw", invitation: id! })).status, 303);
    assert.doesNotMatch((await browser.open(url("/members"))).text, /name="invitation"/);
    assert.equal((await acceptLink(link)).status, 400);
    assert.deepEqual(await usersWithEmail(server, email), []);
  });

  test("members see no such page, signed-out people and forged forms neither", async () => {
    const browser = await signedIn(await newUser());
    const page = await browser.open(url("/members"));
    assert.equal(page.status, 403);
    assert.doesNotMatch(page.text, /person1@/);
    assert.doesNotMatch((await browser.open(url("/account"))).text, /\/members"/);
    assert.equal((await new Browser().open(url("/members"))).status, 401);
    const [admin, other] = [await newUser("admin"), await newUser()];
    const { browser: theirs, submit } = await members(admin);
    assert.match((await theirs.open(url("/account"))).text, /\/members"/);
    const fields = { user: other.id, change: "deactivate" };
    assert.equal((await submit({ ...fields, csrf: "x" })).status, 403);
    const csrf = /name="csrf" value="([^"]+)"/.exec((await theirs.open(url("/members"))).text)![1]!;
    const body = new URLSearchParams({ ...fields, csrf });
    const headers = { "sec-fetch-site": "cross-site" };
    assert.equal((await theirs.open(url("/members"), { method: "POST", body, headers })).status, 403);
    assert.equal((await stateOf(other)).active, true);
    // The role counts at the next request.
    const demoted = { method: "PATCH", body: { role: "member" } };
    expectAnswer(await server.request(`/users/${admin.id}`, demoted), { status: 200 });
    assert.equal((await submit(fields)).status, 403);
    assert.equal((await stateOf(other)).active, true);
  });

  test("a person changes their name, whatever their role", async () => {
    const user = await newUser();
    const browser = await signedIn(user);
    const account = await browser.open(url("/account"));
    const saved = await browser.submit(account, { name: " Rear Admiral " }, 'value="name"');
    assert.match(saved.text, /Your changes were saved/);
    assert.equal((await stateOf(user)).name, "Rear Admiral");
    for (const name of ["", " ", "x".repeat(201)])
      assert.equal((await browser.submit(account, { name }, 'value="name"')).status, 422, name);
    const role = { role: "owner", name: "Still", active: "true" };
    await browser.submit(account, role, 'value="name"');
    assert.partialDeepStrictEqual(await stateOf(user), { name: "Still", role: "member" });
  });

  test("a new address counts once it is confirmed with the password, and the old one is told", async () => {
    const user = await newUser("admin");
    const browser = await signedIn(user);
    const email = `moved-${database}@example.com`;
    const account = await browser.open(url("/account"));
    assert.equal((await browser.submit(account, { email: "no address" }, 'value="email"')).status, 422);
    const changed = await browser.submit(account, { email }, 'value="email"');
    assert.match(changed.text, /We have sent an email to the new address/);
    const told = await emailTo(server, user.email, "account.email_changed");
    assert.ok(told.text.includes(email));
    assert.equal((await stateOf(user)).email, user.email);
    const page = await new Browser().open(linkIn(await emailTo(server, email, "account.email_link")));
    assert.equal((await new Browser().submit(page, { password: "wrong horse battery" })).status, 401);
    assert.equal((await stateOf(user)).email, user.email);
    assert.match((await new Browser().submit(page, { password })).text, /Your address is confirmed/);
    assert.equal((await stateOf(user)).email, email);
    assert.match((await browser.open(url("/account"))).text, /Your address is confirmed/);
  });

  test("an account cannot be used to send many emails", async () => {
    const browser = await signedIn(await newUser());
    const account = await browser.open(url("/account"));
    const statuses = [];
    for (const number of [1, 2, 3, 4]) {
      const email = `many-${number}-${database}@example.com`;
      statuses.push((await browser.submit(account, { email }, 'value="email"')).status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 429]);
    assert.deepEqual(await emailsTo(server, `many-4-${database}@example.com`, "account.email_link"), []);
  });
});
