// Who receives an event: tenants, scopes, policies, and the limit on subscriptions.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import {
  createdPosts,
  subscriptionStarted,
  titlesOf,
  withStream,
} from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { makeTenant, runCommand, serve, type TestServer } from "../../support/scenario.ts";
import { onEachDatabase, projectFolder } from "../../support/server.ts";

/** Several polling intervals of the event feed. */
const severalPollsMs = 200;

onEachDatabase("access to events", (database) => {
  const server = serve(database, { env: { PORTICO_GRAPHQL_SUBSCRIPTIONS: "5" } });
  describe("tenants and scopes", () => access(server));
  describe("policies", () => policies(database));
});

function access(server: TestServer): void {
  test("another tenant sees nothing", async () => {
    const { key } = await makeTenant(server.workspace);
    await withStream(server.portico, createdPosts, { key }, (theirs) =>
      withStream(server.portico, createdPosts, {}, async (own) => {
        await server.create("/posts", { title: "Ours" });
        await server.create("/posts", { title: "Theirs" }, { key });
        assert.deepEqual(titlesOf(await own.results(1)), ["Ours"]);
        assert.deepEqual(titlesOf(await theirs.results(1)), ["Theirs"]);
        await sleep(severalPollsMs);
        assert.equal(own.allResults.length + theirs.allResults.length, 2);
      }),
    );
  });

  test("a missing scope, of the row or a nested row, is an error with its path", async () => {
    const { key } = await server.command("key", "create", "--name", "Posts", "--scopes", "posts:read");
    for (const [query, path] of [
      ["subscription { commentCreated { body } }", ["commentCreated"]],
      ["subscription { postCreated { author { name } } }", ["postCreated", "author"]],
    ] as const) {
      const stream = await TestStream.open(server.portico, query, { key });
      const [{ errors, data }] = await stream.results(1);
      assert.equal(data, undefined);
      assert.equal(errors[0].extensions.code, "insufficient_scope");
      assert.deepEqual(errors[0].path, path);
      await stream.ended();
    }
  });

  test("a request without a credential is 401", async () => {
    const headers = { accept: "text/event-stream, application/json" };
    const answer = await requestGraphql(server, createdPosts, { key: null, headers });
    assert.equal(answer.status, 401);
  });

  test("one subscription more than the limit is rejected, until another has ended", async () => {
    const { key } = await server.command("key", "create", "--name", "Many", "--scopes", "posts:read");
    const socket = await TestSocket.ready(server.portico, key);
    for (const id of ["1", "2", "3", "4", "5"]) socket.subscribe(id, createdPosts);
    await subscriptionStarted();
    socket.subscribe("6", createdPosts);
    const { payload } = await socket.message(({ id, type }) => id === "6" && type === "error");
    assert.equal(payload[0].extensions.code, "rate_limited");
    assert.match(payload[0].message, /^The credential has 5 open subscriptions, which is the limit\./);
    socket.send({ id: "1", type: "complete" });
    await subscriptionStarted();
    socket.subscribe("7", createdPosts);
    await server.create("/posts", { title: "Room" });
    assert.equal((await socket.results("7", 1)).length, 1);
    assert.equal((await socket.results("1", 0)).length, 0);
    await socket.close();
  });
}

function policies(database: "sqlite" | "postgres"): void {
  const cwd = join(projectFolder, "packages/portico/test/fixtures/workshop");
  const server = serve(database, { cwd });

  test("events of a row that a policy hides are not received", async () => {
    const scopes = "diaries:read,diaries:write,users:read";
    const make = async (name: string): Promise<string> => {
      const words = ["--email", `${name}@example.com`, "--name", name, "--password", "correct horse"];
      const { user } = await runCommand(server.workspace, ["user", "create", ...words], { cwd });
      const named = ["key", "create", "--name", name, "--scopes", scopes, "--user", user.id];
      return (await runCommand(server.workspace, named, { cwd })).key;
    };
    const [one, other] = [await make("one"), await make("other")];
    const query = "subscription { diaryCreated { title: text owner { name } } }";
    await withStream(server.portico, query, { key: one }, (ones) =>
      withStream(server.portico, query, { key: other }, async (others) => {
        await server.create("/diaries", { text: "of one" }, { key: one });
        await server.create("/diaries", { text: "of the other" }, { key: other });
        assert.deepEqual(titlesOf(await ones.results(1)), ["of one"]);
        assert.deepEqual(titlesOf(await others.results(1)), ["of the other"]);
        await sleep(severalPollsMs);
        assert.equal(ones.allResults.length + others.allResults.length, 2);
      }),
    );
  });
}
