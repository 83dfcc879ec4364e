// What MCP offers of an API: names, pages of many tools, and declarations that offer less.

import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "../../src/declare/caller.ts";
import { app, resource, text } from "../../src/index.ts";
import { type Sdk, sdkLoader } from "../../src/mcp/sdk.ts";
import { pageOfTools } from "../../src/mcp/tool-pages.ts";
import { requestOfCall } from "../../src/mcp/tool-request.ts";
import { toolsOf } from "../../src/mcp/tools.ts";
import { buildModel } from "../../src/model/build-model.ts";

const fields = { name: text({ max: 20 }) };
const long = `a${"b".repeat(40)}`;

test("names of tools are unique and have at most 64 characters", () => {
  const parent = resource(long, { fields });
  const child = resource(`${long.slice(0, 40)}c`, {
    parent,
    fields,
    actions: { [`${"d".repeat(40)}s`]: { input: {}, run: async ({ current }) => current } },
  });
  const names = [...toolsOf(buildModel(app({ name: "Long", resources: [parent, child] }), [])).keys()];
  equal(names.length, 13);
  for (const name of names) match(name, /^[\w-]{1,64}$/);
});

test("the tools of a hundred resources are listed page by page", () => {
  const resources = Array.from({ length: 100 }, (_, number) => {
    const name = `thing${String.fromCharCode(97 + Math.floor(number / 26), 97 + (number % 26))}`;
    return resource(name, { fields, filter: ["name"] });
  });
  const model = buildModel(app({ name: "Many", resources }), []);
  const tools = toolsOf(model);
  const caller = { kind: "key", scopes: new Set(model.scopes) } as unknown as Caller;
  const names: string[] = [];
  let pages = 0;
  for (let cursor: string | undefined; ; pages += 1) {
    const page = pageOfTools(tools, caller, cursor)!;
    ok(JSON.stringify(page).length < 257 * 1024);
    names.push(...page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  ok(pages > 1);
  deepEqual(names, [...tools.keys()]);
  equal(pageOfTools(tools, caller, "nothing"), undefined);
  deepEqual(pageOfTools(tools, { ...caller, scopes: new Set() }, undefined), { tools: [] });
});

test("arguments of the same name are told apart", () => {
  const events = resource("event2", {
    fields: { at: text({ max: 20 }), atNe: text({ max: 20 }), idempotencyKey: text({ max: 20 }) },
    filter: ["at", "atNe"],
  });
  const tools = toolsOf(buildModel(app({ name: "Same", resources: [events] }), []));
  const names = (tool: string) => Object.keys(tools.get(tool)!.listed.inputSchema.properties!);
  const filters = ["at", "atNeInRequest", "atIsNull", "atNe", "atNeNe", "atNeIsNull"];
  deepEqual(
    names("list_event2s").filter((name) => name.startsWith("at")),
    filters,
  );
  deepEqual(names("create_event2").toSorted(), ["at", "atNe", "idempotencyKey", "idempotencyKeyInRequest"]);
  const { target } = requestOfCall(tools.get("list_event2s")!, { atNeInRequest: "a", atNe: "b" });
  equal(target, "/v1/event2s?at%5Bne%5D=a&atNe=b");
  const { headers, body } = requestOfCall(tools.get("create_event2")!, {
    ...{ at: "a", atNe: "b", idempotencyKey: "c", idempotencyKeyInRequest: "d" },
  });
  deepEqual([headers, body], [{ "Idempotency-Key": "d" }, { at: "a", atNe: "b", idempotencyKey: "c" }]);
});

test("tools are those of the current version", () => {
  const posts = resource("post", { fields, versions: { v1: { title: "name" } } });
  const model = buildModel(app({ name: "Two", version: "v2", versions: { v1: {} }, resources: [posts] }), []);
  const tools = toolsOf(model);
  equal(tools.size, 6);
  const create = tools.get("create_post")!;
  const { target, body } = requestOfCall(create, { name: "x" });
  deepEqual([target, body], ["/v2/posts", { name: "x" }]);
  ok(Object.hasOwn(create.listed.inputSchema.properties!, "name"));
});

test("a declaration that offers what does not exist is refused", () => {
  const declared = (mcp: unknown, more: object = {}) =>
    app({ name: "Wrong", resources: [resource("thing", { fields, ...more, mcp: mcp as boolean })] });
  const remedy = /^resource thing: mcp is true, false, or a list of some of list, get/;
  for (const mcp of [["read"], "list", 1, [1]])
    throws(() => buildModel(declared(mcp), []), { name: "OperatorError", message: remedy });
  throws(() => buildModel(declared(["create"], { operations: ["list"] }), []), /some of list$/);
  throws(() => buildModel(declared(["list"], { exposed: false }), []), /it is not exposed/);
  const tools = (mcp: unknown, more?: object) => [...toolsOf(buildModel(declared(mcp, more), [])).keys()];
  deepEqual(tools(["get"]), ["get_thing"]);
  deepEqual(tools(["restorations"], { softDelete: true }), ["restore_thing"]);
  deepEqual([tools([]), tools(false), tools(true, { exposed: false })], [[], [], []]);
});

test("the SDK is loaded with the first request, once; if it is missing, the log says what to install", async () => {
  let loads = 0;
  const reports: string[] = [];
  const sdk = {} as Sdk;
  const load = sdkLoader(
    async () => {
      loads += 1;
      if (loads === 1) throw new Error("ERR_MODULE_NOT_FOUND");
      return sdk;
    },
    (message) => reports.push(message),
  );
  equal(loads, 0);
  await rejects(load(), { code: "unavailable", message: "MCP is not set up on this server." });
  match(reports.join(), /npm install @modelcontextprotocol\/server/);
  ok((await load()) === sdk && (await load()) === sdk);
  equal(loads, 2);
});
