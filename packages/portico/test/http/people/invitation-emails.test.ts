// The emails and events of invitations, how many there are, and the tenants that they belong to.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { Browser } from "../../support/browser.ts";
import { openReader, writeDirectly } from "../../support/database-reader.ts";
import { emailsTo, emailTo } from "../../support/emails.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { makeKey } from "../../support/keys.ts";
import { password } from "../../support/oauth.ts";
import { acceptLink, invitationKind, invitationLink, invite } from "../../support/people.ts";
import { expectAnswer, makeTenant, runCommand, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/people");

onEachDatabase("emails of invitations", (database) => {
  const server = serve(database, { cwd });
  let count = 0;
  const newEmail = (): string => {
    count += 1;
    return `invited${count}@example.com`;
  };
  const execute = (sql: string) => writeDirectly(server.workspace.databaseUrl, sql);

  test("an address gets at most three emails in an hour, whatever is withdrawn", async () => {
    const email = newEmail();
    for (const _ of [1, 2, 3]) {
      const { id } = await invite(server, { email });
      expectAnswer(await server.request(`/v1/invitations/${id}`, { method: "DELETE" }), { status: 204 });
    }
    const refused = await server.request("/v1/invitations", { body: { email } });
    expectAnswer(refused, { status: 429, code: "rate_limited" });
    const seconds = Number(refused.headers.get("retry-after"));
    assert.ok(seconds > 3_500 && seconds <= 3_600, String(seconds));
    await execute("update invitation_emails set created_at = '2026-01-01T00:00:00.000Z'");
    await invite(server, { email });
  });

  test("names in the email are cut, and are no links", async () => {
    const tenant = await makeTenant(server.workspace, "*", { cwd });
    const name = `Win at https://evil.example.com/free ${"x".repeat(100)}`;
    await server.command("tenant", "rename", tenant.id, "--name", name);
    const email = newEmail();
    await invite(server, { email }, { key: tenant.key });
    const { subject, text, html } = await emailTo(server, email, invitationKind);
    assert.match(subject, /You are invited to join Win at https/);
    for (const content of [subject, text, html]) assert.doesNotMatch(content, /evil\.example|x{60}/);
    assert.match(await invitationLink(server, email), /\/oauth\/invitation\?token=[\w-]{43}$/);
  });

  test("a tenant sees, sends and withdraws its own invitations only", async () => {
    const { key } = await makeTenant(server.workspace, "*", { cwd });
    const { id, email } = await invite(server, { email: newEmail() });
    for (const [path, options] of [
      [`/v1/invitations/${id}`, {}],
      [`/v1/invitations/${id}`, { method: "DELETE" }],
      [`/v1/invitations/${id}/mails`, { body: {} }],
    ] as const)
      expectAnswer(await server.request(path, { key, ...options }), { status: 404, code: "not_found" });
    assert.deepEqual((await server.request("/v1/invitations", { key })).body.data, []);
    // The same address may be invited by both.
    await invite(server, { email }, { key });
  });

  test("those with users:write of the tenant get the events of invitations, and nobody else", async () => {
    const other = await makeTenant(server.workspace, "*", { cwd });
    const member = await server.create("/users", { name: "Member", email: "no-events@example.com" });
    const { key: members } = await makeKey(server, { ownerId: member.id, scopes: ["*"] });
    const query = (kind: string): string => `subscription { invitation${kind} { email status } }`;
    const [created, updated, others] = await Promise.all([
      TestStream.open(server.portico, query("Created")),
      TestStream.open(server.portico, query("Updated")),
      TestStream.open(server.portico, query("Created"), { key: other.key }),
    ]);
    const socket = await TestSocket.ready(server.portico, members);
    try {
      socket.subscribe("1", query("Created"));
      const refused = await socket.message(({ type }) => type === "error");
      assert.match(JSON.stringify(refused), /insufficient_scope/);
      await subscriptionStarted();
      const { id, email } = await invite(server, { email: "events@example.com" });
      await acceptLink(await invitationLink(server, email));
      const [first] = await created.results(1);
      assert.deepEqual(first.data.invitationCreated, { email, status: "pending" });
      const [accepted] = await updated.results(1);
      assert.deepEqual(accepted.data.invitationUpdated, { email, status: "accepted" });
      const logged = await server.request(`/v1/events?resourceId=${id}`);
      assert.deepEqual(
        logged.body.data.map(({ type }: { type: string }) => type),
        ["invitation.updated", "invitation.created"],
      );
      assert.equal(
        (await server.request(`/v1/events?resourceId=${id}`, { key: other.key })).body.data.length,
        0,
      );
      assert.deepEqual(others.allResults, []);
    } finally {
      for (const stream of [created, updated, others]) stream.close();
      await socket.close();
    }
  });

  test("an invitation of a deleted tenant is refused", async () => {
    const tenant = await makeTenant(server.workspace, "*", { cwd });
    const { email } = await invite(server, { email: newEmail() }, { key: tenant.key });
    const link = await invitationLink(server, email);
    const page = await new Browser().open(link);
    await runCommand(server.workspace, ["tenant", "delete", tenant.id, "--confirm", "Another"], { cwd });
    assert.equal((await new Browser().submit(page, { name: "X", password })).status, 400);
    assert.equal((await new Browser().open(link)).status, 400);
  });

  test("the token of a link is in its email only", async () => {
    const { email } = await invite(server, { email: newEmail() });
    const [, token = ""] = (await invitationLink(server, email)).split("token=");
    const reader = openReader(server.workspace.databaseUrl);
    try {
      for (const table of ["oauth_records", "invitations", "invitation_emails", "events"])
        assert.ok(!JSON.stringify(await reader.rows(`select * from ${table}`)).includes(token), table);
    } finally {
      await reader.close();
    }
    assert.equal((await emailsTo(server, email, invitationKind)).length, 1);
  });
});
