// Rows that a policy hides, over every protocol: they are not read, counted, found, changed, referred to or delivered.

import assert from "node:assert/strict";
import { test } from "node:test";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { makeKey } from "../../support/keys.ts";
import { basic, makeClient, makePublicClient, obtainTokens, post } from "../../support/oauth.ts";
import { makeTenant, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";
import { createRows, cwd, type Rows } from "./organisation.ts";
import {
  describe,
  isRefused,
  type RowRequest,
  readsOf,
  requestsAbout,
  send,
  type Target,
} from "./row-requests.ts";

onEachDatabase("hidden rows", (database) => {
  let rows: Rows;
  /** The credentials of Bob. */
  const bobs: Record<string, string> = {};
  let before: string;
  const server = serve(database, {
    cwd,
    prepare: async (started) => {
      rows = await createRows(started);
      const scopes =
        "openid,projects:read,projects:write,memberships:read,memberships:write,issues:read,issues:write,events:read,users:read";
      const application = await makePublicClient(started, scopes);
      const tokens = await obtainTokens(started, application, rows.bob, scopes.replaceAll(",", " "));
      Object.assign(bobs, { key: rows.bob.key, token: tokens.access_token });
      before = await allRows();
    },
  });
  /** All rows, as their owner sees them. */
  const allRows = async (): Promise<string> => {
    const paths = ["projects", "memberships", "issues", "users"].map((each) => `/v1/exports/${each}`);
    const answers = await Promise.all(paths.map((path) => read({ path }, server.portico.key)));
    return answers.map(({ text }) => text).join("\n");
  };
  const read = (request: RowRequest, key: string | null): Promise<Answer> => send(server, request, key);

  for (const kind of ["key", "token"])
    test(`reads with the ${kind} of a member have every visible row and nothing of a hidden one`, async () => {
      for (const [request, expected] of readsOf(rows)) {
        const answer = await read(request, bobs[kind]!);
        assert.equal(answer.status, 200, `${describe(request)}: ${answer.text}`);
        assert.deepEqual(idsIn(answer.text), [...expected].sort(), `${describe(request)}: ${answer.text}`);
        assert.doesNotMatch(answer.text, /hidden/, describe(request));
        const total = answer.body?.pagination?.total ?? answer.headers.get("total-count");
        if (total !== undefined && total !== null)
          assert.equal(Number(total), expected.length, describe(request));
      }
    });

  test("a cursor of somebody who sees more leads to visible rows only", async () => {
    const path = `/tenants/${rows.tenantId}/issues?sort=title&limit=1`;
    const seen: string[] = [];
    let cursor: string | null = "";
    do {
      const suffix: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const owners = await read({ path: path + suffix }, server.portico.key);
      const bobs = await read({ path: path + suffix }, rows.bob.key);
      assert.doesNotMatch(bobs.text, /hidden/);
      seen.push(...idsIn(bobs.text));
      cursor = owners.body.pagination.nextCursor;
    } while (cursor !== null);
    assert.deepEqual([...new Set(seen)].sort(), [...rows.issues].sort());
  });

  test("every request about a hidden row is answered as one about a row that does not exist", async () => {
    const { hidden } = rows;
    const targets: readonly Target[] = hidden.issues
      .concat(hidden.secret)
      .map((issue) => ({ project: hidden.project, membership: hidden.membership, issue }));
    for (const target of targets) {
      const missing = Object.fromEntries(
        Object.entries(target).map(([name, id]) => [name, id.replace(/[^_]+$/, "0".repeat(26))]),
      ) as unknown as Target;
      const others = requestsAbout(missing, rows);
      for (const [index, request] of requestsAbout(target, rows).entries()) {
        const [answer, other] = [await read(request, bobs.key!), await read(others[index]!, bobs.key!)];
        assert.ok(isRefused(answer), `${describe(request)}: ${answer.status} ${answer.text}`);
        assert.deepEqual(neutral(answer, target), neutral(other, missing), describe(request));
        assert.doesNotMatch(answer.text, /hidden/, describe(request));
      }
    }
    assert.equal(await allRows(), before);
  });

  test("a unique value of a hidden row is refused, and the row is not updated by it", async () => {
    const taken = { name: "taken", code: "hidden-code" };
    const attempt = (request: RowRequest) => read(request, bobs.key!);
    const line = { headers: { "content-type": "application/x-ndjson" }, body: JSON.stringify(taken) };
    const codes = [
      (await attempt({ path: "/projects", body: taken })).body.error.code,
      (await attempt({ path: `/projects/${rows.project}`, method: "PATCH", body: taken })).body.error.code,
      (await attempt({ path: "/v1/imports/projects?mode=upsert&by=code", ...line })).body.errors[0].error
        .code,
      (await attempt({ path: "/v1/imports/projects?mode=upsert&by=code&dryRun=true", ...line })).body
        .errors[0].error.code,
    ];
    assert.deepEqual(codes, ["conflict", "conflict", "conflict", "conflict"]);
    assert.equal(await allRows(), before);
  });

  test("credentials that show no row read, write and count none", async () => {
    const other = await makeTenant(server.workspace, "*", { cwd });
    const machine = await makeClient(
      server,
      "--type",
      "confidential",
      "--scopes",
      "projects:read,projects:write,issues:read,issues:write,memberships:read,memberships:write,events:read",
    );
    const granted = await post(server, "/token", { grant_type: "client_credentials" }, basic(machine));
    const [publishable, narrow, guest] = [
      await makeKey(server, { type: "publishable", scopes: [] }),
      await makeKey(server, { ownerId: rows.bob.id, scopes: ["users:read"] }),
      await server.create("/users", { name: "Guest", email: "guest@example.com", role: "guest" }),
    ];
    const callers: Readonly<Record<string, string | null>> = {
      "another tenant": other.key,
      "a client without a user": granted.body.access_token,
      "a publishable key": publishable.key,
      "a key without the scopes": narrow.key,
      "a role without the scopes": (await makeKey(server, { ownerId: guest.id, scopes: ["*"] })).key,
      nobody: null,
    };
    const visible: Target = { project: rows.project, membership: rows.membership, issue: rows.issues[0] };
    before = await allRows();
    for (const [name, key] of Object.entries(callers)) {
      for (const [request] of readsOf(rows)) {
        const { text } = await read(request, key);
        assert.doesNotMatch(text, /hidden|visible|open plans/, `${name}: ${describe(request)}`);
      }
      for (const request of requestsAbout(visible, rows)) {
        const answer = await read(request, key);
        assert.ok(isRefused(answer), `${name}: ${describe(request)}: ${answer.status} ${answer.text}`);
        assert.doesNotMatch(answer.text, /hidden|visible|open plans/, `${name}: ${describe(request)}`);
      }
    }
    assert.equal(await allRows(), before);
  });

  test("subscriptions over both transports deliver events of visible rows only", async () => {
    const { hidden } = rows;
    const fields = { project: "{ id name }", issue: "{ id title blocker { title } }", membership: "{ id }" };
    const queries = Object.entries(fields).flatMap(([name, selection]) =>
      ["Created", "Updated", "Deleted"].map(
        (kind) => `subscription { ${name}${kind} ${kind === "Deleted" ? "{ id }" : selection} }`,
      ),
    );
    queries.push(
      `subscription { issueCreated(projectId: "${hidden.project}") { id } }`,
      `subscription { issueUpdated(id: "${hidden.issues[0]}") { id } }`,
      `subscription { issueUpdated(filter: { title: "hidden again" }) { id } }`,
      `subscription { issueUpdated(filter: { origin: { name: "hidden plans" } }) { id } }`,
      `subscription { projectUpdated(filter: { memberships: { some: { userId: "${rows.ada}" } } }) { id } }`,
    );
    const socket = await TestSocket.ready(server.portico, bobs.key!);
    const streams = await Promise.all(
      queries.map((query, index) =>
        TestStream.open(server.portico, query, { key: bobs[index % 2 === 0 ? "token" : "key"]! }),
      ),
    );
    try {
      for (const [index, query] of queries.entries()) socket.subscribe(String(index), query);
      await subscriptionStarted();
      const send = async (method: string, path: string, body?: object): Promise<string> => {
        const answer = await server.request(path, { method, ...(body && { body }) });
        assert.ok(answer.status < 300, answer.text);
        return answer.body?.id;
      };
      /** Creates and changes rows of a project. @returns the paths of those to delete */
      const change = async (project: string, word: string): Promise<readonly string[]> => {
        await send("PATCH", `/projects/${project}`, { name: `${word} plans` });
        const issue = await send("POST", `/projects/${project}/issues`, { title: `${word} new` });
        await send("PATCH", `/issues/${issue}`, { title: `${word} again`, originId: hidden.project });
        const { id: userId } = await server.create("/users", { name: word, email: `${word}@example.com` });
        const membership = await send("POST", `/projects/${project}/memberships`, { userId });
        return [`/issues/${issue}`, `/memberships/${membership}`];
      };
      const received = (index: number) =>
        socket.messages.filter(({ id, type }) => id === String(index) && type === "next");
      /** Waits for the numbers of events of visible rows; what must not be delivered would come before. */
      const expectCounts = async (counts: readonly number[]): Promise<void> => {
        for (const [index, count] of counts.entries()) {
          await streams[index]!.results(count);
          await socket.results(String(index), count);
        }
        for (const [index, count] of counts.entries()) {
          const stream = streams[index]!;
          const both = [stream.allResults.length, received(index).length];
          assert.deepEqual(both, [count, count], queries[index]!);
          assert.doesNotMatch(stream.text + JSON.stringify(received(index)), /hidden/, queries[index]!);
        }
      };
      const ofHidden = await change(hidden.project, "hidden");
      await send("PATCH", `/issues/${hidden.secret}`, { title: "hidden still" });
      const gone = await send("POST", "/projects", { name: "hidden gone", code: "hidden-gone" });
      await send("POST", `/projects/${gone}/issues`, { title: "hidden in it" });
      const ofVisible = await change(rows.project, "open");
      await expectCounts([0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
      for (const path of [`/projects/${gone}`, ...ofHidden, ...ofVisible]) await send("DELETE", path);
      await expectCounts([0, 1, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0]);
      await subscriptionStarted();
      await expectCounts([0, 1, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0]);
    } finally {
      for (const stream of streams) stream.close();
      await socket.close();
    }
  });
});

/** The ids of rows in a response, apart from references. */
function idsIn(text: string): readonly string[] {
  const own = text.replace(/"(?:blocker|origin|owner|user|project)Id":"[^"]*"/g, "");
  return [...new Set(own.match(/\b(?:project|membership|issue)_[0-9a-z]{26}\b/g))].sort();
}

/** A response without the ids that its request named. */
function neutral({ status, text }: Answer, target: Target): readonly unknown[] {
  return [status, Object.values(target).reduce((rest, id) => rest.replaceAll(id, "ID"), text)];
}
