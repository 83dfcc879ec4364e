// People who lose their rights while their keys, applications, streams and pages are in use: from the next request on,
// over every protocol.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../support/browser.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { makeKey } from "../../support/keys.ts";
import {
  authorizeUrl,
  type CreatedClient,
  makePublicClient,
  makeUser,
  obtainTokens,
  post,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import { createRows, cwd, type Rows } from "./organisation.ts";
import { describe, isRefused, readsOf, requestsAbout, send, type Target } from "./row-requests.ts";

const scopes =
  "openid,offline_access,projects:read,projects:write,memberships:read,memberships:write,issues:read,issues:write,events:read,users:read";

interface Person extends User {
  readonly membership: string;
  readonly keyId: string;
  readonly credentials: readonly string[];
  readonly refreshToken: string;
  readonly browser: Browser;
}

onEachDatabase("lost rights", (database) => {
  let rows: Rows;
  let application: CreatedClient;
  const server = serve(database, {
    cwd,
    prepare: async (started) => {
      rows = await createRows(started);
      application = await makePublicClient(started, scopes);
    },
  });
  let count = 0;
  /** A member of the visible project, with a key, a token and a session. */
  const join = async (): Promise<Person> => {
    count += 1;
    const user = await makeUser(server, `person${count}@example.com`);
    const membership = await server.create(`/projects/${rows.project}/memberships`, { userId: user.id });
    const key = await makeKey(server, { ownerId: user.id, scopes: ["*"] });
    const tokens = await obtainTokens(server, application, user, scopes.replaceAll(",", " "));
    const browser = new Browser();
    await signInAndAllow(browser, authorizeUrl(server, application, "openid").url, user);
    return {
      ...user,
      membership: membership.id,
      keyId: key.id,
      credentials: [key.key, tokens.access_token],
      refreshToken: tokens.refresh_token,
      browser,
    };
  };
  const change = async (method: string, path: string, body?: object): Promise<void> => {
    const answer = await server.request(path, { method, ...(body && { body }) });
    assert.ok(answer.status < 300, answer.text);
  };

  interface Loss {
    readonly title: string;
    readonly lose: (person: Person) => Promise<void>;
    /** The status of each request that reads rows. */
    readonly status: 401 | 403;
    /** Whether the person can still sign in. */
    readonly keepsSession: boolean;
  }
  const losses: readonly Loss[] = [
    {
      title: "demoted",
      lose: ({ id }) => change("PATCH", `/users/${id}`, { role: "guest" }),
      ...{ status: 403, keepsSession: true },
    },
    {
      title: "deactivated",
      lose: ({ id }) => change("PATCH", `/users/${id}`, { active: false }),
      ...{ status: 401, keepsSession: false },
    },
    {
      title: "deleted",
      lose: async ({ id, membership }) => {
        await change("DELETE", `/memberships/${membership}`);
        await change("DELETE", `/users/${id}`);
      },
      ...{ status: 401, keepsSession: false },
    },
    {
      title: "deprived of key and grant",
      lose: async ({ keyId, credentials: [, token] }) => {
        const grants = await server.request("/v1/grants", { key: token! });
        for (const { id } of grants.body.data) await change("DELETE", `/v1/grants/${id}`);
        await change("DELETE", `/v1/api-keys/${keyId}`);
      },
      ...{ status: 401, keepsSession: true },
    },
  ];

  for (const { title, lose, status, keepsSession } of losses)
    test(`somebody who is ${title} reads and writes nothing, and open subscriptions end`, async () => {
      const person = await join();
      const query = "subscription { issueCreated { title } }";
      const streams = await Promise.all(
        person.credentials.map((key) => TestStream.open(server.portico, query, { key })),
      );
      const sockets = await Promise.all(
        person.credentials.map((key) => TestSocket.ready(server.portico, key)),
      );
      for (const socket of sockets) socket.subscribe("1", query);
      await subscriptionStarted();
      await lose(person);
      for (const stream of streams) await stream.ended();
      for (const socket of sockets)
        await Promise.race([
          socket.closed(),
          socket.message(({ id, type }) => id === "1" && type === "error"),
        ]);
      // Nothing that happens now is delivered.
      await server.create(`/projects/${rows.project}/issues`, { title: "visible too late" });
      const target: Target = { project: rows.project, membership: rows.membership, issue: rows.issues[0] };
      for (const key of person.credentials) {
        // A token is checked again within a second.
        for (let tries = 0; tries < 100; tries += 1) {
          if ((await server.request("/projects", { key })).status === status) break;
          await sleep(20);
        }
        for (const [request] of readsOf(rows)) {
          const { text, status: answered } = await send(server, request, key);
          if (!request.path.includes("graphql")) assert.equal(answered, status, describe(request));
          assert.doesNotMatch(text, /visible|open plans/, describe(request));
        }
        for (const request of requestsAbout(target, rows)) {
          const answer = await send(server, request, key);
          assert.ok(isRefused(answer), `${describe(request)}: ${answer.status} ${answer.text}`);
          assert.doesNotMatch(answer.text, /visible|open plans/, describe(request));
        }
      }
      const refreshed = await post(server, "/token", {
        grant_type: "refresh_token",
        client_id: application.clientId,
        refresh_token: person.refreshToken,
      });
      if (status === 401) assert.equal(refreshed.body.error, "invalid_grant", refreshed.text);
      else assert.equal(refreshed.body.scope, "openid offline_access users:read");
      const page = await person.browser.open(`${server.url}/oauth/account`);
      assert.equal(page.status, keepsSession ? 200 : 401);
      for (const text of [
        ...streams.map((each) => each.text),
        JSON.stringify(sockets.map(({ messages }) => messages)),
      ])
        assert.doesNotMatch(text, /visible/);
      for (const socket of sockets) await socket.close();
      assert.equal((await server.request(`/projects/${rows.project}`)).body.name, "open plans");
    });
});
