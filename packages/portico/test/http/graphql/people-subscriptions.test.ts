// Subscriptions to invitations and memberships, and what a change of rights ends, over both transports.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import { belongsTo, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { makeKey } from "../../support/keys.ts";
import { acceptLink, invitationLink, invite } from "../../support/people.ts";
import { expectAnswer, TestServer } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const teams = resource("team", {
  fields: { name: text({ max: 50, default: "New" }) },
  policy: ({ caller }) => caller.role === "owner" || { memberships: { some: { userId: caller.userId } } },
});
const memberships = resource("membership", {
  fields: { team: belongsTo(() => teams), user: belongsTo(() => users) },
  policy: ({ caller }) => caller.role === "owner" || { userId: caller.userId },
});
const member = ["teams:read", "teams:write", "memberships:read"];
const declared = app({
  name: "Teams",
  resources: [teams, memberships],
  roles: { owner: "*", admin: [...member, "users:read", "users:write"], member },
});

const invitationEvents = {
  created: "subscription { invitationCreated { id email role status inviter { name } } }",
  updated: "subscription { invitationUpdated { id status } }",
  deleted: "subscription { invitationDeleted { id status } }",
};

onEachDatabase("subscriptions to people", (database) => {
  const server = new TestServer();
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(server.workspace, declared);
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });

  let count = 0;
  const person = async (role: string): Promise<{ readonly id: string; readonly key: string }> => {
    const email = `person${++count}@example.com`;
    const { id } = await server.create("/users", { name: `Person ${count}`, email, role });
    return { id, key: (await makeKey(server, { scopes: ["*"], ownerId: id })).key };
  };
  const patch = async (path: string, body: object): Promise<void> =>
    expectAnswer(await server.request(path, { method: "PATCH", body }), { status: 200 });
  /** The same subscriptions over both transports. */
  const subscribe = async (queries: readonly string[], key?: string) => {
    const streams = await Promise.all(
      queries.map((query) => TestStream.open(server.portico, query, key === undefined ? {} : { key })),
    );
    const socket = await TestSocket.ready(server.portico, key);
    for (const [index, query] of queries.entries()) socket.subscribe(String(index), query);
    await subscriptionStarted();
    /** The data of the results of a subscription, which both transports deliver alike. */
    const received = async (index: number, expected: number) => {
      const [byStream, bySocket] = await Promise.all([
        streams[index]!.results(expected),
        socket.results(String(index), expected),
      ]);
      assert.deepEqual(bySocket, byStream);
      return byStream.map(({ data }) => Object.values(data)[0]);
    };
    const close = async (): Promise<void> => {
      for (const stream of streams) stream.close();
      await socket.close();
    };
    return { streams, socket, received, close };
  };

  test("invitations are reported as they are created, sent, accepted and withdrawn, without their links", async () => {
    const admin = await person("admin");
    const { received, streams, close } = await subscribe(Object.values(invitationEvents), admin.key);
    const first = await invite(server, { email: "first@example.com", role: "member" });
    const link = await invitationLink(server, first.email);
    const second = await invite(server, { email: "second@example.com" }, { key: admin.key });
    // A subscription shows an invitation as it is when the event is sent: they are read before they change.
    const [one, other] = await received(0, 2);
    assert.deepEqual(one, {
      ...{ id: first.id, email: first.email, role: "member", status: "pending" },
      inviter: { name: "Ada Lovelace" },
    });
    assert.partialDeepStrictEqual(other, { id: second.id, status: "pending" });
    expectAnswer(await server.request(`/v1/invitations/${second.id}`, { method: "DELETE" }), { status: 204 });
    assert.match((await acceptLink(link)).text, /Your account is ready/);
    assert.deepEqual(await received(1, 1), [{ id: first.id, status: "accepted" }]);
    assert.deepEqual(await received(2, 1), [{ id: second.id, status: "withdrawn" }]);
    const token = new URL(link).searchParams.toString().split("=").at(-1)!;
    for (const { text: sent } of streams) assert.equal(sent.includes(token), false);
    await close();
    const { key } = await person("member");
    const refused = await requestGraphql(server, "{ invitations { id } }", { key });
    assert.equal(refused.body.errors[0].extensions.code, "insufficient_scope");
    const stream = await TestStream.open(server.portico, invitationEvents.created, { key });
    assert.equal((await stream.results(1))[0].errors[0].extensions.code, "insufficient_scope");
  });

  test("events of a team are received while its membership lasts", async () => {
    const { id: userId, key } = await person("member");
    const [team, lasting] = [await server.create("/teams", {}), await server.create("/teams", {})];
    const { received, close } = await subscribe(
      ["subscription { teamUpdated { name } }", "subscription { membershipCreated { team { name } } }"],
      key,
    );
    const join = ({ id: teamId }: { readonly id: string }) =>
      server.create("/memberships", { teamId, userId });
    const rename = (name: string, { id } = team): Promise<void> => patch(`/teams/${id}`, { name });
    await join(lasting);
    assert.deepEqual(await received(1, 1), [{ team: { name: "New" } }]);
    await rename("before");
    await rename("seen", lasting);
    // Policies apply when an event is sent: this one follows `before`, which has been left out by then.
    assert.deepEqual(await received(0, 1), [{ name: "seen" }]);
    const membership = await join(team);
    assert.deepEqual(await received(1, 2), [{ team: { name: "New" } }, { team: { name: "before" } }]);
    await rename("member");
    assert.deepEqual(await received(0, 2), [{ name: "seen" }, { name: "member" }]);
    expectAnswer(await server.request(`/memberships/${membership.id}`, { method: "DELETE" }), {
      status: 204,
    });
    await rename("after");
    await rename("last", lasting);
    assert.deepEqual(await received(0, 3), [{ name: "seen" }, { name: "member" }, { name: "last" }]);
    await close();
  });

  test("a demotion and a deactivation end the streams of a person over both transports", async () => {
    for (const change of [{ role: "member" }, { active: false }]) {
      const { id, key } = await person("admin");
      const { streams, socket } = await subscribe([invitationEvents.created], key);
      await patch(`/users/${id}`, change);
      const [{ errors }] = await streams[0]!.results(1);
      const code = "role" in change ? "insufficient_scope" : "invalid_credential";
      assert.equal(errors[0].extensions.code, code);
      await streams[0]!.ended();
      assert.equal((await socket.closed()).code, 4403);
      await invite(server, { email: `unseen${id.slice(-8)}@example.com` });
      assert.equal(streams[0]!.allResults.length, 1);
    }
  });

  test("a stream whose policy depends on the role ends with the role, although its scope remains", async () => {
    const { id, key } = await person("owner");
    const { streams, socket } = await subscribe(["subscription { teamCreated { name } }"], key);
    await patch(`/users/${id}`, { role: "member" });
    const [{ errors }] = await streams[0]!.results(1);
    assert.equal(errors[0].extensions.code, "forbidden");
    assert.equal((await socket.closed()).code, 4403);
  });
});
