// Conditions of hostile depth and size, in every place where a request can contain one: they are refused, and those at the
// limit are answered.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import { createRows, cwd, type Rows } from "./organisation.ts";
import { type RowRequest, send } from "./row-requests.ts";

/** A condition inside `depth` others. */
const nested = (depth: number, name: "AND" | "OR" | "NOT"): object => {
  let condition: object = { code: "open-code" };
  for (let level = 0; level < depth; level += 1)
    condition = { [name]: name === "NOT" ? condition : [condition] };
  return condition;
};
const wide = (count: number): object => ({
  OR: Array.from({ length: count }, (_, index) => ({ rank: index })),
});
const many = (count: number): object => ({
  code: Array.from({ length: count }, (_, index) => `code ${index}`),
});
/** Conditions on related rows in each branch, every one a subquery. */
const related = (count: number): object => ({
  OR: Array.from({ length: count }, (_, index) => ({
    issuesAsProject: { none: { title: `title ${index}` } },
  })),
});

/** As a literal of GraphQL. */
const literal = (value: unknown): string => JSON.stringify(value).replace(/"(\w+)":/g, "$1:");

const accepted: Readonly<Record<string, object>> = {
  "seven levels": nested(7, "AND"),
  "seven negations": nested(7, "NOT"),
  "24 comparisons": wide(24),
  "50 values": many(50),
  "related rows": related(10),
};
const refused: Readonly<Record<string, object>> = {
  "eight levels": nested(8, "OR"),
  "nine negations": nested(9, "NOT"),
  "1,000 levels": nested(1_000, "AND"),
  "200 comparisons": wide(200),
  "10,000 comparisons": wide(10_000),
  "200 related conditions": related(200),
  "100,000 values": many(100_000),
  "a member of the prototype": JSON.parse('{"__proto__": {"code": "x"}}'),
  "a constructor": { constructor: { code: "x" } },
};

onEachDatabase("hostile conditions", (database) => {
  let rows: Rows;
  const server = serve(database, {
    cwd,
    prepare: async (started) => {
      rows = await createRows(started);
    },
  });
  const document = (filter: string): string => `{ projectsConnection(${filter}) { edges { node { id } } } }`;
  const declared = "query($filter: ProjectFilter) ";
  const requestsWith = (filter: object): readonly RowRequest[] => {
    const query = declared + document("filter: $filter");
    return [
      { path: "/graphql", body: { query, variables: { filter } } },
      { path: "/graphql", body: { query: document(`filter: ${literal(filter)}`) } },
      {
        path: `/graphql?${new URLSearchParams({ query, variables: JSON.stringify({ filter }) })}`,
        method: "GET",
      },
      {
        path: "/graphql",
        headers: { accept: "text/event-stream" },
        body: {
          query: "subscription($filter: ProjectFilter) { projectCreated(filter: $filter) { id } }",
          variables: { filter },
        },
      },
    ];
  };

  for (const [what, filter] of Object.entries(accepted))
    test(`${what} are answered`, async () => {
      const [variables, literals] = requestsWith(filter);
      for (const request of [variables!, literals!]) {
        const { status, text } = await send(server, request, rows.bob.key);
        assert.equal(status, 200, text);
        assert.doesNotMatch(text, /error|hidden/, text);
      }
    });

  for (const [what, filter] of Object.entries(refused))
    test(`a filter with ${what} is refused in queries and subscriptions`, async () => {
      for (const request of requestsWith(filter)) {
        const { status, text } = await send(server, request, rows.bob.key);
        assert.ok(status === 200 || (status >= 400 && status < 500), `${status} ${text.slice(0, 300)}`);
        assert.match(text, /"errors"|"error"/, text.slice(0, 300));
        assert.doesNotMatch(text, /internal_error|hidden/, text.slice(0, 300));
      }
      const socket = await TestSocket.ready(server.portico, rows.bob.key);
      socket.subscribe(
        "1",
        "subscription($filter: ProjectFilter) { projectCreated(filter: $filter) { id } }",
        {
          variables: { filter },
        },
      );
      const isRefused = (): boolean => socket.messages.some(({ type }) => type === "error");
      // A message that is too large or too deep closes the connection.
      const isClosed = (): boolean => socket.socket.readyState === WebSocket.CLOSED;
      for (let tries = 0; tries < 2_000 && !isRefused() && !isClosed(); tries += 1) await sleep(5);
      if (!isRefused()) assert.ok([1009, 4400].includes((await socket.closed()).code));
      assert.doesNotMatch(JSON.stringify(socket.messages), /internal_error|hidden/);
      await socket.close();
    });

  test("parameters of REST are bounded in number, values and length", async () => {
    const values = (count: number): string =>
      Array.from({ length: count }, (_, index) => `code=${index}`).join("&");
    for (const query of [
      values(1_500),
      `code[in]=${Array.from({ length: 1_500 }, (_, index) => index).join()}`,
      Array.from({ length: 500 }, (_, index) => `unknown${index}=1`).join("&"),
      ...[
        "__proto__=x",
        "constructor=x",
        "code[__proto__]=x",
        "code[in][in]=x",
        "AND=x",
        "issuesAsProject.some.title=x",
      ],
      ...[
        "memberships.user.name=x",
        "issuesAsProject.title.title=x",
        "rank[gte]=1e999",
        "rank[gte]=x",
        "rank[lt]=",
      ],
      `${"sort=name&".repeat(50)}`,
      `sort=${"name,".repeat(50)}name`,
      `q=${"hidden%20".repeat(500)}`,
    ])
      for (const path of ["/projects", "/v1/exports/projects"]) {
        const { status, text } = await send(server, { path: `${path}?${query}` }, rows.bob.key);
        assert.ok(status < 500, `${query.slice(0, 100)}: ${text.slice(0, 300)}`);
        assert.doesNotMatch(text, /hidden-code|hidden plans/, query.slice(0, 100));
      }
    const deep = `{"query":"{ me { kind } }","variables":{"filter":${'{"NOT":'.repeat(20_000)}{}${"}".repeat(20_000)}}}`;
    const { status } = await send(server, { path: "/graphql", body: deep }, rows.bob.key);
    assert.equal(status, 400);
    assert.equal((await send(server, { path: "/projects" }, rows.bob.key)).status, 200);
  });
});
