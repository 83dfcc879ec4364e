// People with fields of the app: how they get accounts, what they change themselves, and whose invitations they withdraw.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { composeApp } from "../../../src/runtime/compose.ts";
import { readSettings } from "../../../src/runtime/settings/settings.ts";
import company from "../../fixtures/company/portico.config.ts";
import { Browser, type Shown } from "../../support/browser.ts";
import { emailTo, linkIn } from "../../support/emails.ts";
import { expectError, requestGraphql } from "../../support/graphql/request.ts";
import { makeKey } from "../../support/keys.ts";
import {
  authorizeUrl,
  type CreatedClient,
  makePublicClient,
  obtainTokens,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { acceptLink, invitationLink, invite, usersWithEmail } from "../../support/people.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/company");

onEachDatabase("people with fields of the app", (database) => {
  let client: CreatedClient;
  let hiddenId: string;
  let openId: string;
  const server = serve(database, {
    cwd,
    prepare: async (started) => {
      client = await makePublicClient(started, "openid,profile,teams:read");
      hiddenId = (await started.create("/teams", { name: "Hidden" })).id;
      openId = (await started.create("/teams", { name: "Open", isOpen: true })).id;
    },
  });
  let count = 0;
  const newEmail = (): string => {
    count += 1;
    return `person${count}@example.com`;
  };
  const join = async (role: string): Promise<User> => {
    const { email } = await invite(server, { email: newEmail(), role });
    await acceptLink(await invitationLink(server, email));
    return (await usersWithEmail(server, email))[0];
  };
  const keyOf = async ({ id }: User): Promise<string> =>
    (await makeKey(server, { ownerId: id, scopes: ["*"] })).key;
  const statusOf = async (id: string): Promise<string> =>
    (await server.request(`/v1/invitations/${id}`)).body.status;
  const openMembers = async (user: User): Promise<{ browser: Browser; page: Shown }> => {
    const browser = new Browser();
    await signInAndAllow(browser, authorizeUrl(server, client, "openid").url, user);
    return { browser, page: await browser.open(`${server.url}/oauth/members`) };
  };

  test("a new account has the defaults of the fields, whatever its form contains", async () => {
    const forged = { plan: "paid", phone: "555", teamId: hiddenId, role: "owner" };
    const { email } = await invite(server, { email: newEmail() });
    assert.equal((await acceptLink(await invitationLink(server, email), forged)).status, 200);
    const signedUp = newEmail();
    const browser = new Browser();
    const form = await browser.open(`${server.url}/oauth/sign-up?client_id=${client.clientId}`);
    await browser.submit(form, { email: signedUp });
    const link = linkIn(await emailTo(server, signedUp, "account.sign_up_link"));
    assert.equal((await acceptLink(link, forged)).status, 200);
    for (const each of [email, signedUp])
      assert.partialDeepStrictEqual((await usersWithEmail(server, each))[0], {
        ...{ role: "member", plan: "free", phone: null, teamId: null },
      });
  });

  test("people refer only to rows that the policy shows them", async () => {
    const user = await join("member");
    const token = await obtainTokens(server, client, user, "openid profile teams:read");
    for (const key of [await keyOf(user), token.access_token as string]) {
      const change = (teamId: string) =>
        server.request("/v1/me", { method: "PATCH", key, body: { teamId, phone: "556" } });
      expectAnswer(await server.request(`/teams/${hiddenId}`, { key }), { status: 404 });
      expectAnswer(await change(hiddenId), {
        status: 422,
        details: [{ field: "teamId", issue: "reference" }],
      });
      expectAnswer(await change(openId), { status: 200, body: { user: { teamId: openId, phone: "556" } } });
    }
  });

  test("people change the fields of the app that they may change on their page, and no others", async () => {
    const user = await join("member");
    const browser = new Browser();
    await signInAndAllow(browser, authorizeUrl(server, client, "openid").url, user);
    const submit = async (fields: Readonly<Record<string, string>>): Promise<Shown> =>
      browser.submit(await browser.open(`${server.url}/oauth/account`), fields, 'value="details"');
    const rowOf = async () => (await usersWithEmail(server, user.email))[0];
    const about = 'Ada\r\n</textarea>"<b>';
    const entered = { phone: "555", about, shift: "late", isListed: "false", desk: "7" };
    const saved = await submit({ ...entered, awayUntil: "2026-12-01T09:30" });
    assert.match(saved.text, /Your changes were saved/);
    const changed = {
      phone: "555",
      about: about.replace("\r\n", "\n"),
      shift: "late",
      isListed: false,
      desk: 7,
    };
    const row = await rowOf();
    assert.partialDeepStrictEqual(row, { ...changed, awayUntil: "2026-12-01T09:30:00.000Z" });
    for (const shown of [
      'name="phone" value="555" maxlength="30"',
      '<option value="late" selected>',
      '<option value="false" selected>No',
      'name="desk" value="7" step="1" min="1" max="99">',
      'name="awayUntil" value="2026-12-01T09:30:00.000"',
      "\nAda\n&lt;/textarea&gt;&quot;&lt;b&gt;</textarea>",
    ])
      assert.ok(saved.text.includes(shown), shown);
    assert.ok(!saved.text.includes('name="teamId"'), "no form for references");
    for (const [wrong, label] of [
      [{ phone: "x".repeat(31) }, "Phone"],
      [{ shift: "never" }, "Shift"],
      [{ shift: "" }, "Shift"],
      [{ isListed: "perhaps" }, "Is listed"],
      [{ desk: "0" }, "Desk"],
      [{ desk: "1e999" }, "Desk"],
      [{ desk: "x" }, "Desk"],
      [{ awayUntil: "tomorrow" }, "Away until"],
    ] as const) {
      const refused = await submit(wrong);
      assert.equal(refused.status, 422, JSON.stringify(wrong));
      assert.match(refused.text, new RegExp(`${label} is not valid`));
    }
    await submit({
      plan: "paid",
      role: "owner",
      active: "false",
      teamId: openId,
      email: "other@example.com",
      name: "X",
    });
    await submit({ awayUntil: "", desk: "", phone: "" });
    assert.deepEqual(await rowOf(), {
      ...{ ...row, awayUntil: null, desk: null, phone: null },
      updatedAt: (await rowOf()).updatedAt,
    });
  });

  test("the schemas of me have the fields of the app, and its changes those that people may change", () => {
    const { operations } = composeApp(company, readSettings({})).model;
    const [get, update] = ["getMe", "updateMe"].map((id) => operations.find((each) => each.id === id)!);
    const added = ["phone", "teamId", "about", "shift", "isListed", "desk", "awayUntil"];
    const { user } = get!.output!.properties as Record<string, { properties: object; required: string[] }>;
    assert.deepEqual(user!.required, ["id", "name", "email", "role", "phone", "plan", ...added.slice(1)]);
    assert.deepEqual(Object.keys(user!.properties), user!.required);
    assert.deepEqual(Object.keys(update!.input!.properties as object), ["name", "email", ...added]);
    assert.deepEqual(update!.output, get!.output);
  });

  test("the name of a person makes no link in the email to an address that they enter", async () => {
    const key = await keyOf(await join("member"));
    const email = newEmail();
    const body = { name: "Claim at evil.example/now, Dr. Who", email };
    expectAnswer(await server.request("/v1/me", { method: "PATCH", key, body }), { status: 200 });
    const { text, html } = await emailTo(server, email, "account.email_link");
    for (const each of [text, html]) assert.match(each, /Hello Claim at evil example now, Dr\. Who,/);
  });

  test("somebody with users:write alone invites on the page, and does not see the members", async () => {
    const user = await join("inviter");
    const { browser, page } = await openMembers(user);
    assert.equal(page.status, 200, page.text);
    assert.match(page.text, /Your role does not allow you to see the members\./);
    assert.doesNotMatch(page.text, /ada@example\.com/);
    const email = newEmail();
    const sent = await browser.submit(page, { email, role: "inviter", change: "invite" });
    assert.match(sent.text, new RegExp(`Withdraw the invitation of ${email}`));
  });

  test("an invitation is withdrawn by those who could give its role, or who manage its inviter", async () => {
    const inviter = await join("inviter");
    const key = await keyOf(inviter);
    const withdraw = (id: string) => server.request(`/v1/invitations/${id}`, { method: "DELETE", key });
    const ofOwner = await invite(server, { email: newEmail(), role: "owner" });
    expectAnswer(await withdraw(ofOwner.id), { status: 403, code: "forbidden" });
    const mutation = `mutation { deleteInvitation(id: "${ofOwner.id}") { __typename } }`;
    expectError(await requestGraphql(server, mutation, { key }), { code: "forbidden" });
    const { browser, page } = await openMembers(inviter);
    assert.doesNotMatch(page.text, new RegExp(`Withdraw the invitation of ${ofOwner.email}`));
    const forged = await browser.submit(page, { invitation: ofOwner.id, change: "withdraw" });
    assert.equal(forged.status, 403);
    assert.equal(await statusOf(ofOwner.id), "pending");
    const ofMember = await invite(server, { email: newEmail() });
    expectAnswer(await withdraw(ofMember.id), { status: 204 });
    expectAnswer(await server.request(`/v1/invitations/${ofOwner.id}`, { method: "DELETE" }), {
      status: 204,
    });

    const demoted = await join("owner");
    const own = { key: await keyOf(demoted) };
    const left = await invite(server, { email: newEmail(), role: "owner" }, own);
    const last = await invite(server, { email: newEmail(), role: "owner" }, own);
    const body = { role: "inviter" };
    expectAnswer(await server.request(`/users/${demoted.id}`, { method: "PATCH", body }), { status: 200 });
    expectAnswer(await withdraw(left.id), { status: 204 });
    expectAnswer(await server.request(`/users/${demoted.id}`, { method: "DELETE", key }), { status: 204 });
    assert.equal(await statusOf(last.id), "withdrawn");
  });
});
