// The operations of an API as tools: which there are, what they take, and how they answer.

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { after, test } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import assisted from "../../fixtures/assisted/portico.config.ts";
import { makeKey } from "../../support/keys.ts";
import { call, callTool, connect, failure, type Negotiation, textOf } from "../../support/mcp.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const everyTool = [
  ...["list_users", "get_user"],
  ...["list_boards", "get_board", "create_board", "replace_board", "update_board", "delete_board"],
  ...["list_notes", "get_note", "create_note", "replace_note", "update_note", "delete_note"],
  ...["paint_note", "restore_note"],
  "list_labels",
  ...["list_orders", "get_order", "create_order", "replace_order", "update_order", "delete_order"],
  ...["get_me", "get_boards_by_id_sums_by_factor"],
];

onEachDatabase("tools of MCP", (database) => {
  const server = serve(database, { app: assisted });
  const clients: Client[] = [];
  after(() => Promise.all(clients.map((client) => client.close())));
  const connected = async (key: string, mode?: Negotiation): Promise<Client> => {
    const client = await connect(server, key, mode);
    clients.push(client);
    return client;
  };
  const namesOf = async (client: Client): Promise<string[]> =>
    (await client.listTools()).tools.map(({ name }) => name);

  test("a client of each version of the protocol lists the tools, and calls them", async () => {
    for (const [mode, version] of [
      ["legacy", "2025-11-25"],
      ["auto", "2026-07-28"],
    ] as const) {
      const client = await connected(server.portico.key, mode);
      equal(client.getNegotiatedProtocolVersion(), version);
      deepEqual(await namesOf(client), everyTool);
      const { id } = await call(client, "create_board", { name: mode });
      equal((await call(client, "get_board", { id, fields: "name" })).name, mode);
      deepEqual(await call(client, "delete_board", { id }), undefined);
    }
  });

  test("a credential sees the tools of its scopes, and a publishable key those of public reads", async () => {
    const reader = await makeKey(server, { scopes: ["boards:read", "labels:read"] });
    const sums = "get_boards_by_id_sums_by_factor";
    const read = ["list_boards", "get_board", "list_labels", "get_me", sums];
    const limited = await connected(reader.key);
    deepEqual(await namesOf(limited), read);
    equal((await failure(limited, "create_board", { name: "No" })).code, "insufficient_scope");
    const publishable = await makeKey(server, { type: "publishable", scopes: undefined });
    const anonymous = await connected(publishable.key);
    deepEqual(await namesOf(anonymous), ["list_boards", "get_board"]);
    ok((await call(anonymous, "list_boards")).data);
    equal((await failure(anonymous, "list_labels")).code, "insufficient_scope");
  });

  test("a tool describes itself to assistants and to clients", async () => {
    const client = await connected(server.portico.key);
    const { tools } = await client.listTools();
    const tool = new Map(tools.map((each) => [each.name, each]));
    match(
      tool.get("list_boards")!.description!,
      /^List boards\. Newest first .* A board is a wall for notes\./,
    );
    match(
      tool.get("list_labels")!.description!,
      /Deprecated since 2026-01-01.*will be removed on 2027-01-01/,
    );
    match(tool.get("delete_note")!.description!, /It can be restored\./);
    match(tool.get("delete_board")!.description!, /Its notes are deleted with it\./);
    const sums = tool.get("get_boards_by_id_sums_by_factor")!;
    match(sums.description!, /times a factor\.$/);
    deepEqual(sums.inputSchema.required, ["id", "factor", "colour"]);
    const hints = ["list_notes", "create_note", "replace_note", "update_note", "delete_note"].map((name) => {
      const { readOnlyHint, destructiveHint, idempotentHint } = tool.get(name)!.annotations!;
      return [readOnlyHint, destructiveHint, idempotentHint];
    });
    deepEqual(hints, [
      [true, false, true],
      [false, false, false],
      [false, true, true],
      [false, true, false],
      [false, true, true],
    ]);
    const { properties, required } = tool.get("create_note")!.inputSchema;
    deepEqual(Object.keys(properties!), ["parentId", "idempotencyKey", "title", "body", "colour", "price"]);
    deepEqual(required, ["parentId"]);
    deepEqual(tool.get("create_order")!.inputSchema.required, ["idempotencyKey", "name"]);
    const filters = Object.keys(tool.get("list_notes")!.inputSchema.properties!);
    ok(["colour", "colourNe", "createdAtGte", "board.name"].every((name) => filters.includes(name)));
    // Clients accept no other names.
    for (const { name, inputSchema } of tools)
      for (const each of [name, ...Object.keys(inputSchema.properties ?? {})]) match(each, /^[\w.-]{1,64}$/);
  });

  test("lists are filtered by arguments, several values are an array, and a cursor reads on", async () => {
    const client = await connected(server.portico.key);
    const { id: parentId } = await call(client, "create_board", { name: "Lists" });
    for (const colour of ["red", "green", "red"])
      await call(client, "create_note", { parentId, title: `A ${colour} one`, colour, price: "1.50" });
    const list = (input: object) => call(client, "list_notes", { parentId, ...input });
    equal((await list({ colour: "red" })).data.length, 2);
    equal((await list({ colour: ["red", "green"] })).data.length, 3);
    equal((await list({ colourNe: "red" })).data.length, 1);
    equal((await list({ createdAtGte: "2100-01-01T00:00:00Z" })).data.length, 0);
    equal((await list({ q: "green", fields: "title" })).data.length, 1);
    // No value would mean no filter, so all rows.
    const none = await failure(client, "list_notes", { parentId, colour: [] });
    deepEqual(none.details, [{ field: "colour", issue: "min" }]);
    const first = await list({ limit: 2 });
    const next = await list({ limit: 2, cursor: first.pagination.nextCursor });
    deepEqual([first.data.length, next.data.length, next.pagination.hasMore], [2, 1, false]);
    const sums = { id: parentId, factor: 2, colour: "red" };
    deepEqual(await call(client, "get_boards_by_id_sums_by_factor", sums), { sum: 4 });
  });

  test("actions, deletion and restoration are tools", async () => {
    const client = await connected(server.portico.key);
    const { id: parentId } = await call(client, "create_board", { name: "Actions" });
    const { id } = await call(client, "create_note", { parentId, body: "x" });
    equal((await call(client, "paint_note", { id, colour: "green" })).colour, "green");
    equal((await call(client, "update_note", { id, body: "y" })).colour, "green");
    await call(client, "delete_note", { id });
    equal((await failure(client, "get_note", { id })).code, "not_found");
    equal((await call(client, "restore_note", { id })).body, "y");
  });

  test("what REST refuses is a result with its error, which names the arguments", async () => {
    const client = await connected(server.portico.key);
    const details = async (name: string, input: object): Promise<unknown> =>
      (await failure(client, name, { ...input })).details;
    deepEqual(await details("create_board", { name: "", size: 3 }), [
      { field: "size", issue: "unknown" },
      { field: "name", issue: "min" },
    ]);
    deepEqual(await details("list_notes", { parentId: "board_0", createdAtGte: "soon" }), [
      { field: "createdAtGte", issue: "format" },
    ]);
    const { message } = await failure(client, "list_notes", { parentId: "board_0", createdAtGte: "soon" });
    match(message, /^`createdAtGte` /);
    deepEqual(await details("get_board", { name: 1 }), [
      { field: "id", issue: "required" },
      { field: "name", issue: "unknown" },
    ]);
    deepEqual(await details("get_board", { id: { nested: 1 }, fields: ["a", "b"] }), [
      { field: "id", issue: "type" },
      { field: "fields", issue: "type" },
    ]);
    for (const id of ["..", "", "a/b", "x".repeat(101), "\0", "\ud800", "%2e%2e"])
      ok(
        ["not_found", "validation_error", "malformed_request"].includes(
          (await failure(client, "get_board", { id })).code,
        ),
      );
    await rejects(client.callTool({ name: "list_secrets" }), { code: -32602 });
    await rejects(client.callTool({ name: "get_hidden" }), { code: -32602 });
  });

  test("policies and roles hold", async () => {
    const client = await connected(server.portico.key);
    const { id: parentId } = await call(client, "create_board", { name: "Policies" });
    for (const colour of ["red", "green"]) await call(client, "create_note", { parentId, body: "x", colour });
    const { id: ownerId } = await server.create("/v1/users", {
      name: "Grace",
      email: "grace@example.com",
      role: "reader",
    });
    const scopes = ["boards:read", "notes:read", "notes:write"];
    const reader = await connected((await makeKey(server, { scopes, ownerId })).key);
    const { data } = await call(reader, "list_notes", { parentId });
    deepEqual(
      data.map(({ colour }: { colour: string }) => colour),
      ["green"],
    );
    equal((await failure(reader, "update_note", { id: data[0].id, body: "y" })).code, "forbidden");
    equal((await failure(reader, "list_orders")).code, "insufficient_scope");
  });

  test("a call with the same idempotencyKey takes effect once", async () => {
    const client = await connected(server.portico.key);
    const order = { name: "Once", idempotencyKey: "a-1" };
    deepEqual(await call(client, "create_order", order), await call(client, "create_order", order));
    equal(
      (await failure(client, "create_order", { ...order, name: "Twice" })).code,
      "idempotency_key_reused",
    );
    equal((await failure(client, "create_order", { name: "Once" })).code, "idempotency_key_required");
  });

  test("a large answer is refused, and says what to ask for; a large row that was written is left out", async () => {
    const client = await connected(server.portico.key);
    const { id: parentId } = await call(client, "create_board", { name: "Large" });
    const body = "x".repeat(300_000);
    const written = await callTool(client, "create_note", { parentId, body });
    deepEqual([written.isError, written.structuredContent], [undefined, {}]);
    match(textOf(written), /^Done\. The answer is larger than 256 KiB/);
    const error = await failure(client, "list_notes", { parentId });
    deepEqual(error.details, [{ field: "limit", issue: "max" }]);
    equal((await call(client, "list_notes", { parentId, fields: "colour" })).data.length, 1);
  });

  test("rows are resources", async () => {
    const client = await connected(server.portico.key);
    const { id } = await call(client, "create_board", { name: "Read" });
    const { resources } = await client.listResources();
    deepEqual(
      resources.map(({ uri }) => uri),
      ["portico://users", "portico://boards", "portico://labels", "portico://orders"],
    );
    const { resourceTemplates } = await client.listResourceTemplates();
    deepEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      [
        "portico://users/{id}",
        "portico://boards/{id}",
        "portico://boards/{parentId}/notes",
        "portico://notes/{id}",
        "portico://orders/{id}",
      ],
    );
    const read = async (uri: string): Promise<unknown> => {
      const { contents } = await client.readResource({ uri });
      return JSON.parse((contents[0] as { text: string }).text);
    };
    equal(((await read(`portico://boards/${id}`)) as { name: string }).name, "Read");
    ok(((await read("portico://boards")) as { data: unknown[] }).data.length > 0);
    for (const uri of [
      "portico://boards/board_0",
      "portico://secrets",
      "https://boards/x",
      `portico://boards/${id}/x`,
      "portico://boards/%zz",
    ])
      await rejects(client.readResource({ uri }), { code: -32602 });
    const { key } = await makeKey(server, { scopes: ["labels:read"] });
    const limited = await connected(key);
    deepEqual(
      (await limited.listResources()).resources.map(({ uri }) => uri),
      ["portico://labels"],
    );
    await rejects(limited.readResource({ uri: "portico://boards" }), {
      message: /requires the scope `boards:read`/,
    });
  });
});
