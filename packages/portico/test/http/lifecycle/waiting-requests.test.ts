// Waiting requests keep in memory only the parts that they use, whatever else callers send.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { dropUnused, requestOfBody } from "../../../src/graphql/document/request.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { expectAnswer, serveProcess } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const large = "x".repeat(900_000);

onEachDatabase("waiting requests", (database) => {
  const server = serveProcess(database);

  test("a WebSocket is not read from while more than 1 MiB of its operations is unanswered", async () => {
    for (let count = 0; count < 20; count += 1)
      await server.create("/posts", { title: `Post ${count}`, body: "x".repeat(90_000) });
    const socket = await TestSocket.ready(server.portico);
    const completed = (): number => socket.messages.filter(({ type }) => type === "complete").length;
    const count = 60;
    for (let number = 0; number < count; number += 1)
      socket.subscribe(`q${number}`, "{ posts(limit: 20) { id body author { posts { id } } } }", {
        variables: { unused: large },
      });
    let maxSent = 0;
    for (const until = Date.now() + 15_000; completed() < count && Date.now() < until; await sleep(5)) {
      const unsent = Math.floor(socket.socket.bufferedAmount / large.length);
      maxSent = Math.max(maxSent, count - unsent - completed());
    }
    assert.equal(completed(), count);
    assert.ok(socket.messages.every(({ type }) => type !== "error"));
    // Plus what the operating system buffers for the connection.
    assert.ok(maxSent < 25, `${maxSent} were read and not answered`);
    await socket.close();
  });

  test("unused variables and extensions do not change a response", async () => {
    const body = {
      query:
        "query One($limit: Int) { posts(limit: $limit) { id } } query Two($other: Int) { users(limit: $other) { id } }",
      operationName: "One",
      variables: { limit: 1, other: large, constructor: 1 },
      extensions: { cost: true, unused: "x" },
    };
    for (const accept of ["application/json", "application/json, text/event-stream;q=0.1"]) {
      const answer = await server.request("/graphql", { method: "POST", body, headers: { accept } });
      expectAnswer(answer, { status: 200 });
      assert.equal(answer.body.data.posts.length, 1);
      assert.equal(answer.body.extensions.cost, 1);
    }
  });
});

test("an operation releases the variables and extensions that it does not use", () => {
  const request = requestOfBody({
    query: "query ($a: Int, $b: Int) { posts(limit: $a, first: $b) { id } }",
    variables: { a: 1, c: "large" },
    extensions: { cost: true, d: "large", lastEventId: "7" },
  });
  dropUnused(request, new Set(["a", "b"]));
  assert.deepEqual(request.variables, { a: 1 });
  assert.deepEqual(request.extensions, { cost: true, lastEventId: "7" });
});
