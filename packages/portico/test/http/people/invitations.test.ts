// Invitations: who may invite whom, and the page that accepts, over REST, GraphQL and a browser.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { Browser } from "../../support/browser.ts";
import { writeDirectly } from "../../support/database-reader.ts";
import { emailTo } from "../../support/emails.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import { makeKey } from "../../support/keys.ts";
import { makePublicClient, makeUser, obtainTokens, password, type User } from "../../support/oauth.ts";
import { acceptLink, invitationKind, invitationLink, invite, usersWithEmail } from "../../support/people.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/people");
const forbidden = { status: 403, code: "forbidden" } as const;

onEachDatabase("invitations", (database) => {
  const server = serve(database, { cwd });
  let count = 0;
  const newEmail = (): string => {
    count += 1;
    return `invited${count}@example.com`;
  };
  const newUser = async (role: string): Promise<User> => {
    const user = await makeUser(server, newEmail());
    await patchUser(user.id, { role });
    return user;
  };
  /** A key with every scope of its owner's role. */
  const keyOf = async ({ id }: { readonly id: string }): Promise<string> =>
    (await makeKey(server, { ownerId: id, scopes: ["*"] })).key;
  const statusOf = async (id: string): Promise<string> =>
    (await server.request(`/v1/invitations/${id}`)).body.status;
  const patchUser = async (id: string, body: object): Promise<void> =>
    expectAnswer(await server.request(`/users/${id}`, { method: "PATCH", body }), { status: 200 });
  const execute = (sql: string) => writeDirectly(server.workspace.databaseUrl, sql);

  test("an invited person gets an email, chooses a name and a password, and signs in with the role", async () => {
    const email = newEmail();
    const created = await server.request("/v1/invitations", {
      body: { email: email.toUpperCase(), role: "admin" },
    });
    expectAnswer(created, { status: 201, body: { email, role: "admin", status: "pending" } });
    const { id, expiresAt, createdAt } = created.body;
    assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 7 * 86_400_000);
    const link = await invitationLink(server, email);
    const page = await new Browser().open(link);
    assert.match(page.text, new RegExp(`${email}[\\s\\S]*name="password"`));
    assert.match(page.text, /Ada Lovelace/);
    assert.equal(await statusOf(id), "pending", "opening the link accepts nothing");
    assert.deepEqual(await usersWithEmail(server, email), []);
    assert.equal((await acceptLink(link, { password: "short" })).status, 422);
    assert.equal((await acceptLink(link, { name: " " })).status, 422);
    assert.equal((await acceptLink(link, { name: "x".repeat(201) })).status, 422);
    assert.match((await acceptLink(link, { name: "Grace" })).text, /Your account is ready/);
    assert.equal(await statusOf(id), "accepted");
    const [user] = await usersWithEmail(server, email);
    assert.partialDeepStrictEqual(user, { name: "Grace", role: "admin", active: true });
    const client = await makePublicClient(server, "openid,email,projects:read,projects:write");
    const tokens = await obtainTokens(server, client, user, "openid email projects:write");
    const info = await server.request("/oauth/userinfo", { key: tokens.access_token });
    assert.partialDeepStrictEqual(info.body, { email, email_verified: true });
    const project = { key: tokens.access_token, body: { name: "Engine" } };
    expectAnswer(await server.request("/projects", project), { status: 201 });
  });

  test("without a role, the last declared one is given", async () => {
    const invitation = await invite(server, { email: newEmail() });
    assert.equal(invitation.role, "member");
    await acceptLink(await invitationLink(server, invitation.email));
    assert.equal((await usersWithEmail(server, invitation.email))[0].role, "member");
  });

  test("GraphQL creates, sends again, lists and withdraws invitations", async () => {
    const email = newEmail();
    const { body } = await requestGraphql(
      server,
      `mutation { createInvitation(input: { email: "${email}", role: support }) { id status role inviter { name } } }`,
    );
    const { id, ...created } = body.data.createInvitation;
    assert.deepEqual(created, { status: "pending", role: "support", inviter: { name: "Ada Lovelace" } });
    const first = await invitationLink(server, email);
    const sent = await requestGraphql(server, `mutation { sendInvitation(id: "${id}") { status } }`);
    assert.equal(sent.body.data?.sendInvitation.status, "pending", sent.text);
    await emailTo(server, email, invitationKind, 2);
    const listed = await requestGraphql(server, `{ invitations(limit: 1) { id email } }`);
    assert.deepEqual(listed.body.data?.invitations, [{ id, email }], listed.text);
    const deleted = await requestGraphql(server, `mutation { deleteInvitation(id: "${id}") { __typename } }`);
    assert.equal(deleted.body.errors, undefined, deleted.text);
    assert.equal(await statusOf(id), "withdrawn");
    assert.equal((await acceptLink(first)).status, 400);
  });

  test("an invitation is accepted once: of ten concurrent acceptances by two links one succeeds", async () => {
    const { id, email } = await invite(server, { email: newEmail() });
    const links = [await invitationLink(server, email)];
    expectAnswer(await server.request(`/v1/invitations/${id}/mails`, { body: {} }), { status: 201 });
    links.push(await invitationLink(server, email, 2));
    assert.notEqual(links[0], links[1]);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => acceptLink(links[index % 2]!, { name: `Name ${index}` })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array(9).fill(400)]);
    assert.equal((await usersWithEmail(server, email)).length, 1);
    expectAnswer(await server.request(`/v1/invitations/${id}/mails`, { body: {} }), {
      status: 409,
      code: "conflict",
    });
    expectAnswer(await server.request(`/v1/invitations/${id}`, { method: "DELETE" }), { status: 204 });
    assert.equal(await statusOf(id), "accepted");
  });

  test("a form cannot change the address or the role", async () => {
    const { email } = await invite(server, { email: newEmail() });
    const other = newEmail();
    const link = await invitationLink(server, email);
    const forged = { email: other, username: other, role: "owner", tenantId: "tenant_x" };
    assert.equal((await acceptLink(link, forged)).status, 200);
    assert.equal((await usersWithEmail(server, email))[0].role, "member");
    assert.deepEqual(await usersWithEmail(server, other), []);
  });

  test("a role is given only by those who have its scopes", async () => {
    const [admin, support, member] = await Promise.all(
      (["admin", "support", "member"] as const).map(async (role) => keyOf(await newUser(role))),
    );
    const attempt = (key: string | undefined, role: string) =>
      server.request("/v1/invitations", { key: key!, body: { email: newEmail(), role } });
    expectAnswer(await attempt(admin, "owner"), forbidden);
    expectAnswer(await attempt(admin, "admin"), { status: 201 });
    expectAnswer(await attempt(support, "admin"), forbidden);
    expectAnswer(await attempt(support, "member"), forbidden);
    expectAnswer(await attempt(support, "support"), { status: 201 });
    expectAnswer(await attempt(member, "member"), { status: 403, code: "insufficient_scope" });
    for (const path of ["/v1/invitations", "/invitations"])
      expectAnswer(await server.request(path, { key: member! }), { status: 403, code: "insufficient_scope" });
    const limited = await makeKey(server, { scopes: ["users:write"] });
    expectAnswer(await attempt(limited.key, "owner"), forbidden);
    const { body } = await requestGraphql(
      server,
      `mutation { createInvitation(input: { email: "${newEmail()}", role: owner }) { id } }`,
      { key: admin! },
    );
    assert.equal(body.errors[0].extensions.code, "forbidden", JSON.stringify(body));
    // Nor by sending the invitation of somebody else again.
    const invitation = await invite(server, { email: newEmail(), role: "owner" });
    const again = { key: admin!, body: {} };
    expectAnswer(await server.request(`/v1/invitations/${invitation.id}/mails`, again), forbidden);
    expectAnswer(await attempt(admin, "boss"), { status: 422, code: "validation_error" });
  });

  test("an application invites only as far as its user and its scopes allow", async () => {
    const client = await makePublicClient(server, "projects:read,users:write");
    const [owner, admin] = [await newUser("owner"), await newUser("admin")];
    const attempt = async (user: typeof owner, scope: string, role: string) => {
      const { access_token: key } = await obtainTokens(server, client, user, scope);
      return server.request("/v1/invitations", { key, body: { email: newEmail(), role } });
    };
    expectAnswer(await attempt(owner, "users:write", "owner"), forbidden);
    expectAnswer(await attempt(admin, "users:write", "admin"), forbidden);
    expectAnswer(await attempt(admin, "projects:read", "member"), {
      status: 403,
      code: "insufficient_scope",
    });
    expectAnswer(await attempt(admin, "users:write projects:read", "member"), { status: 201 });
  });

  for (const [what, change] of [
    ["demoted", (id: string) => patchUser(id, { role: "support" })],
    ["deactivated", (id: string) => patchUser(id, { active: false })],
    [
      "deleted",
      async (id: string) =>
        expectAnswer(await server.request(`/users/${id}`, { method: "DELETE" }), { status: 204 }),
    ],
  ] as const)
    test(`an invitation does not count once its inviter is ${what}, until somebody else sends it again`, async () => {
      const inviter = await newUser("admin");
      const invitation = await invite(server, { email: newEmail() }, { key: await keyOf(inviter) });
      const link = await invitationLink(server, invitation.email);
      const open = await new Browser().open(link);
      assert.equal(open.status, 200);
      await change(inviter.id);
      assert.equal((await acceptLink(link)).status, 400);
      assert.equal((await new Browser().submit(open, { name: "X", password })).status, 400);
      assert.deepEqual(await usersWithEmail(server, invitation.email), []);
      const again = await server.request(`/v1/invitations/${invitation.id}/mails`, { body: {} });
      // The invitations of a deleted user are withdrawn.
      assert.equal(again.status, what === "deleted" ? 409 : 201, again.text);
      assert.equal((await acceptLink(link)).status, what === "deleted" ? 400 : 200);
    });

  test("expired and withdrawn invitations, and forged links, are refused", async () => {
    const { id, email } = await invite(server, { email: newEmail() });
    const link = await invitationLink(server, email);
    await execute(`update invitations set expires_at = '2026-01-01T00:00:00.000Z' where id = '${id}'`);
    assert.equal(await statusOf(id), "expired");
    assert.equal((await acceptLink(link)).status, 400);
    expectAnswer(await server.request(`/v1/invitations/${id}/mails`, { body: {} }), {
      status: 201,
      body: { status: "pending" },
    });
    await invitationLink(server, email, 2);
    const page = await new Browser().open(link);
    assert.equal(page.status, 200);
    expectAnswer(await server.request(`/v1/invitations/${id}`, { method: "DELETE" }), { status: 204 });
    assert.equal((await new Browser().submit(page, { name: "X", password })).status, 400);
    for (const token of ["", "x", "A".repeat(43), `${new URL(link).searchParams.get("token")}x`, "\u0000"]) {
      const url = `${server.url}/oauth/invitation?token=${encodeURIComponent(token)}`;
      assert.equal((await new Browser().open(url)).status, 400, token);
    }
    const fresh = await invite(server, { email });
    const [, token] = (await invitationLink(server, fresh.email, 3)).split("token=");
    const body = new URLSearchParams({ token: token!, name: "X", password });
    const headers = { "sec-fetch-site": "cross-site" };
    const forged = await new Browser().open(`${server.url}/oauth/invitation`, {
      method: "POST",
      body,
      headers,
    });
    assert.equal(forged.status, 403);
    for (const path of ["sign-up", "password", "email"])
      assert.equal(
        (await new Browser().open(`${server.url}/oauth/${path}?token=${token}`)).status,
        400,
        path,
      );
  });

  test("users, invited people and wrong addresses are not invited", async () => {
    const user = await newUser("member");
    const conflict = {
      status: 409,
      code: "conflict",
      details: [{ field: "email", issue: "duplicate" }],
    } as const;
    const attempt = (email: unknown) => server.request("/v1/invitations", { body: { email } });
    expectAnswer(await attempt(user.email.toUpperCase()), conflict);
    const { email } = await invite(server, { email: newEmail() });
    expectAnswer(await attempt(email), conflict);
    const link = await invitationLink(server, email);
    await server.create("/users", { name: "First", email });
    const late = await acceptLink(link);
    assert.equal(late.status, 409);
    assert.match(late.text, /There is an account with this address already/);
    for (const wrong of ["", "x", "a@b@", 1, null, ["a@example.com"], `${"x".repeat(250)}@example.com`])
      expectAnswer(await attempt(wrong), { status: 422, code: "validation_error" });
    for (const name of ["status", "inviterId", "acceptedAt", "expiresAt"]) {
      const body = { email: newEmail(), [name]: user.id };
      expectAnswer(await server.request("/v1/invitations", { body }), {
        status: 422,
        code: "validation_error",
      });
    }
    for (const method of ["PUT", "PATCH"])
      expectAnswer(await server.request("/v1/invitations/invitation_x", { method, body: {} }), {
        status: 405,
      });
  });
});
