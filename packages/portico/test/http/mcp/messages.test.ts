// Messages that no client of the SDK sends: batches, other methods, hostile ones.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { app, number, resource, text } from "../../../src/index.ts";
import { makeKey } from "../../support/keys.ts";
import { post } from "../../support/mcp.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase, onOneDatabase } from "../../support/server.ts";

const things = resource("thing", {
  fields: { name: text({ max: 100, optional: true }), size: number({ optional: true }) },
  filter: ["name"],
});

onEachDatabase("messages of MCP", (database) => {
  const server = serve(database, { app: app({ name: "Things", resources: [things] }) });
  const send = (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    post(server, body, { Authorization: `Bearer ${server.portico.key}`, ...headers });
  const rpc = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: "2.0", id, method, params });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
  const json = async (response: Response): Promise<any> => response.json();

  test("a batch of an older version is answered together, within bounds", async () => {
    const create = rpc("a", "tools/call", { name: "create_thing", arguments: { name: "x" } });
    const answers = await json(
      await send([create, rpc(2, "ping"), { jsonrpc: "2.0", method: "notifications/initialized" }]),
    );
    deepEqual(answers.map(({ id }: { id: unknown }) => id).toSorted(), [2, "a"]);
    for (const body of [
      Array.from({ length: 21 }, (_, id) => rpc(id, "ping")),
      [rpc(1, "ping"), rpc(1, "ping")],
      JSON.parse(`${"[".repeat(40)}${"]".repeat(40)}`),
    ]) {
      const response = await send(body);
      deepEqual([response.status, (await json(response)).error.code], [400, "malformed_request"]);
    }
    const mixed = await send([rpc(1, "ping"), 5]);
    deepEqual([mixed.status, (await json(mixed)).error.code], [400, -32600]);
  });

  test("each message takes a token, also one that fails before it calls the API, and a call takes one", async () => {
    const rateLimit = { limit: 30, windowSeconds: 36_000 };
    const { key } = await makeKey(server, { scopes: ["things:read"], rateLimit });
    const limited = { Authorization: `Bearer ${key}` };
    const list = (id: unknown) => rpc(id, "tools/call", { name: "list_things" });
    const unknown = (id: unknown) => rpc(id, "tools/call", { name: "nothing" });
    let left = 30;
    for (const [body, cost] of [
      [rpc(1, "ping"), 1],
      [list(1), 1],
      [rpc(1, "resources/read", { uri: "portico://things" }), 1],
      [unknown(1), 1],
      [rpc(1, "tools/call"), 1],
      [rpc(1, "resources/read", { uri: "portico://nothing" }), 1],
      [rpc(1, "tools/call", { name: "get_thing" }), 1],
      [{ ...list(1), id: undefined }, 1],
      [[], 1],
      [Array.from({ length: 21 }, (_, id) => list(id)), 1],
      [[list(1), unknown(2), rpc(3, "ping")], 3],
    ] as const) {
      const { headers } = await send(body, limited);
      left -= cost;
      equal(/r=(\d+);/.exec(headers.get("ratelimit")!)?.[1], String(left), JSON.stringify(body));
    }
    for (; left > 1; left -= 1) await send(unknown(1), limited);
    // The call takes the last one: its answer is sent, although the other message has none left.
    const mixed = await json(await send([list(1), unknown(2)], limited));
    deepEqual(mixed.map((each: { error?: unknown }) => each.error === undefined).toSorted(), [false, true]);
    const { status, headers } = await send(unknown(1), limited);
    deepEqual([status, headers.has("retry-after")], [429, true]);
  });

  test("a number that is too large is refused as by REST, and removes nothing", async () => {
    const { id } = await server.create("/v1/things", { size: 5 });
    for (const size of ["1e999", "-1e999", "9".repeat(400)]) {
      const params = `{"name":"update_thing","arguments":{"id":"${id}","size":${size}}}`;
      const { result } = await json(
        await send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`),
      );
      const rest = await server.request(`/v1/things/${id}`, { method: "PATCH", body: `{"size":${size}}` });
      deepEqual([result.isError, result.structuredContent], [true, rest.body]);
    }
    equal((await server.request(`/v1/things/${id}`)).body.size, 5);
  });

  test("malformed parameters are an error of the client", async () => {
    const calls = [
      rpc(1, "tools/list", { cursor: 5 }),
      rpc(1, "resources/list", { cursor: {} }),
      rpc(1, "resources/templates/list", { cursor: [] }),
      rpc(1, "resources/read", { uri: 5 }),
      rpc(1, "resources/read"),
      rpc(1, "tools/call", { name: 5 }),
      rpc(1, "initialize"),
      rpc(1, "initialize", { protocolVersion: 5, capabilities: {}, clientInfo: { name: "x", version: "1" } }),
      rpc(1, "initialize", { protocolVersion: "2025-11-25" }),
    ];
    for (const body of calls)
      equal(
        (await json(await send(body))).error.code,
        -32602,
        `${body.method} ${JSON.stringify(body.params)}`,
      );
  });

  test("there is no stream, no session, and no other media type", async () => {
    for (const method of ["GET", "DELETE"])
      equal((await server.request("/mcp", { method, headers: { accept: "text/event-stream" } })).status, 405);
    equal((await send("{}", { "Content-Type": "text/plain" })).status, 415);
    equal((await send("{")).status, 400);
    equal((await send("x".repeat(1_100_000))).status, 413);
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    const listen = await send(rpc(1, "subscriptions/listen", { _meta: meta }));
    deepEqual([listen.status, (await json(listen)).error.code], [404, -32601]);
    equal((await json(await send(rpc(1, "completion/complete")))).error.code, -32601);
    equal((await send(rpc(1, "ping"), { "MCP-Protocol-Version": "1999-01-01" })).status, 400);
    equal((await send({ jsonrpc: "2.0", method: "notifications/initialized" })).status, 202);
  });

  test("versions since 2025-06-18 have no batches", async () => {
    const batch = (version: string) => send([rpc(1, "ping")], { "MCP-Protocol-Version": version });
    for (const version of ["2024-10-07", "2024-11-05", "2025-03-26"])
      equal((await batch(version)).status, 200);
    for (const version of ["2025-06-18", "2025-11-25", "2026-07-28", "nothing"])
      equal((await batch(version)).status, 400, version);
  });
});

onOneDatabase("hostile messages of MCP", (database) => {
  const server = serve(database, { app: app({ name: "Hostile", resources: [things] }) });

  test("no message makes an error of the server", async () => {
    const name = fc.constantFrom(
      "list_thing",
      "get_thing",
      "create_thing",
      "update_thing",
      "get_me",
      "list_users",
    );
    const argument = fc.constantFrom(
      "id",
      "name",
      "limit",
      "cursor",
      "nameNe",
      "fields",
      "sort",
      "idempotencyKey",
      "__proto__",
      "q",
    );
    const value = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.integer(),
      fc.constant(null),
      fc.boolean(),
      fc.jsonValue(),
      fc.constantFrom("..", "%00", "\ud800", "x".repeat(5_000)),
    );
    const call = fc.record({ name, arguments: fc.dictionary(argument, value) });
    const params = fc.oneof(
      { weight: 4, arbitrary: call },
      fc.record({
        uri: fc.oneof(
          fc.string({ unit: "binary" }),
          fc.string().map((id) => `portico://things/${id}`),
        ),
      }),
      fc.record({ cursor: value }),
      fc.jsonValue(),
    );
    const method = fc.oneof(
      fc.constantFrom(
        "tools/call",
        "tools/list",
        "resources/read",
        "resources/list",
        "initialize",
        "server/discover",
        "subscriptions/listen",
      ),
      fc.string(),
    );
    const version = fc.constantFrom("2026-07-28", "2025-11-25", "2025-06-18", "nothing");
    const meta = fc.record({ "io.modelcontextprotocol/protocolVersion": version });
    const message = fc.record(
      {
        jsonrpc: fc.constant("2.0"),
        id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
        method,
        params,
      },
      { requiredKeys: ["jsonrpc", "method"] },
    );
    const withMeta = fc
      .tuple(message, meta)
      .map(([each, _meta]) => ({ ...each, params: { ...Object(each.params), _meta } }));
    const body = fc.oneof(
      { weight: 5, arbitrary: message },
      { weight: 3, arbitrary: withMeta },
      fc.array(message, { maxLength: 5 }),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(body, fc.option(version), async (sent, named) => {
        const headers = {
          Authorization: `Bearer ${server.portico.key}`,
          ...(named && { "MCP-Protocol-Version": named }),
        };
        const response = await post(server, sent, headers);
        const answered = await response.text();
        ok(response.status < 500, `${response.status} ${answered}`);
        if (answered !== "") JSON.parse(answered);
        ok(!/internal_error|Something went wrong/.test(answered), answered);
      }),
      { numRuns: randomRuns(400, 60) },
    );
    ok(!server.portico.output.includes("request failed"), server.portico.output);
  });
});

onOneDatabase("an app without MCP", (database) => {
  const server = serve(database, { app: app({ name: "Closed", resources: [things], mcp: false }) });

  test("has no endpoint, and nothing that describes it", async () => {
    for (const path of ["/mcp", "/.well-known/oauth-protected-resource/mcp"]) {
      const { status, body } = await server.request(path, { method: "POST", body: {} });
      deepEqual([status, body.error.code], [404, "not_found"]);
    }
    match((await server.request("/.well-known/oauth-protected-resource")).text, /resource/);
  });
});
