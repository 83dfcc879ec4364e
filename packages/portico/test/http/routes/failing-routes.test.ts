// Routes whose code fails, or is called with anything.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  app,
  boolean,
  id,
  integer,
  json,
  list,
  number,
  Problem,
  resource,
  route,
  text,
  timestamp,
} from "../../../src/index.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const notes = resource("note", { fields: { line: text({ max: 20 }) } });

/** Throws what a library throws: an error that looks like one of a request. */
function fail(): never {
  throw Object.assign(new Error("secret 1"), { statusCode: 404, code: "FST_ERR_BAD_URL" });
}

const answer = { count: integer(), note: text({ optional: true }), more: json({ optional: true }) };

/** What handlers return although the compiler refuses it. */
const wrong: Readonly<Record<string, unknown>> = {
  "a-text": { count: "3" },
  nothing: undefined,
  "no-object": "3",
  "a-list": [3],
  "without-count": { note: "x" },
  "no-number": { count: Number.NaN },
  "a-bigint": { count: 1, more: 3n },
  deep: { count: 1, more: nested(40) },
};

function nested(depth: number): unknown {
  return depth === 0 ? 0 : [nested(depth - 1)];
}

/** Arguments of a `Problem` that no response can have. */
const unsendable: Readonly<Record<string, readonly unknown[]>> = {
  "line-break": ["conflict", "x", [], { "X-Name": "a\r\nX-Other: b" }],
  "header-name": ["conflict", "x", [], { "X Name": "a" }],
  code: ["constructor", "x"],
  detail: ["conflict", "x", [{ field: 1n, issue: "type" }]],
};

const declared = app({
  name: "Failures",
  resources: [notes],
  routes: [
    ...Object.entries(wrong).map(([name, value]) =>
      route(`GET /v1/wrong/${name}`, { scope: null, answer }, () => value as { count: number }),
    ),
    route("GET /v1/more", { scope: null, answer }, () => ({ count: 1, secret: "of the server" })),
    route("GET /v1/throws", { scope: null }, fail),
    ...Object.entries(unsendable).map(([name, args]) =>
      route(`GET /v1/unsendable/${name}`, { scope: null }, () => {
        throw Reflect.construct(Problem, args);
      }),
    ),
    route("GET /v1/throws/nothing", { scope: null }, () => Promise.reject(undefined)),
    route("GET /v1/writes", { scope: null }, async ({ rows }) => {
      await (rows as unknown as { create(...input: unknown[]): Promise<void> }).create(notes, {
        line: "Read",
      });
    }),
    route(
      "POST /v1/notes/failures",
      { scope: null, input: { how: text() }, answer },
      async ({ rows, input }) => {
        await rows.create(notes, { line: "Undone" });
        if (input.how === "problem") throw new Problem("forbidden");
        if (input.how === "wrong") return {} as { count: number };
        return fail();
      },
    ),
    route(
      "POST /v1/anything/{name}/{count}",
      {
        scope: null,
        parameters: { count: integer({ min: 0, max: 9 }) },
        query: {
          number: number({ optional: true }),
          at: timestamp({ optional: true }),
          ids: list(id(), { default: [] }),
          pattern: text({ pattern: /[a-z]+/, optional: true }),
        },
        input: {
          line: text({ default: "" }),
          isOn: boolean({ optional: true }),
          rest: json({ default: null }),
        },
        answer: { seen: json() },
      },
      ({ parameters, query, input }) => ({ seen: { parameters, query, input } }),
    ),
  ],
});

onEachDatabase("failing routes", (database) => {
  const server = serve(database, { app: declared });

  test("an answer that does not match its declaration is 500, and the log says which member", async () => {
    for (const name of Object.keys(wrong)) {
      const { status, body } = await server.request(`/v1/wrong/${name}`);
      deepEqual([name, status, body.error.code], [name, 500, "internal_error"]);
      match(body.error.message, new RegExp(`^the route GET /v1/wrong/${name} returned a wrong answer: `));
    }
    match(server.portico.output, /returned a wrong answer: `count` must be a whole number\./);
    match(server.portico.output, /returned a wrong answer: `count` is required\./);
    deepEqual((await server.request("/v1/more")).body, { count: 1, note: null, more: null });
  });

  test("an error of the code is 500, whatever it looks like, and the sandbox explains it", async () => {
    const thrown = await server.request("/v1/throws");
    equal(thrown.status, 500);
    match(
      thrown.body.error.message,
      /^In the route GET \/v1\/throws: Error: secret 1, at .*routes\.test\.ts/,
    );
    equal((await server.request("/v1/throws/nothing")).status, 500);
    const writes = await server.request("/v1/writes");
    equal(writes.status, 500);
    match(writes.body.error.message, /a route with GET only reads/);
  });

  test("a Problem that cannot be sent is 500 in the one shape, and the server goes on", async () => {
    for (const name of Object.keys(unsendable)) {
      const answer = await server.request(`/v1/unsendable/${name}`);
      expectAnswer(answer, { status: 500, code: "internal_error" });
    }
  });

  test("nothing remains of a route that fails", async () => {
    for (const [how, status] of [
      ["problem", 403],
      ["wrong", 500],
      ["error", 500],
    ]) {
      const headers = { "idempotency-key": `of-${how}` };
      equal((await server.request("/v1/notes/failures", { body: { how } })).status, status);
      equal((await server.request("/v1/notes/failures", { body: { how }, headers })).status, status);
    }
    deepEqual((await server.request("/notes")).body.data, []);
  });

  test("no request makes a route fail", async () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("", "%", "1", "-1", "1e400", "\0", "__proto__"),
    );
    const request = fc.record({
      path: fc.tuple(texts, texts),
      query: fc.array(
        fc.tuple(fc.constantFrom("number", "at", "ids", "pattern", "other", "__proto__"), texts),
      ),
      body: fc.oneof(
        fc.json(),
        fc
          .record({ line: texts, isOn: fc.boolean(), rest: fc.jsonValue() })
          .map((each) => JSON.stringify(each)),
        texts,
      ),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ path, query, body }) => {
        const encode = (value: string): string => encodeURIComponent(value.toWellFormed());
        const search = query.map(([name, value]) => `${name}=${encode(value)}`).join("&");
        const { status, text: shown } = await server.request(
          `/v1/anything/${path.map(encode).join("/")}?${search}`,
          { body, method: "POST" },
        );
        ok(status < 500, `${status} ${shown}`);
      }),
      { numRuns: randomRuns(300, 40) },
    );
    equal((await server.request("/v1/anything/a/3?number=1.5", { body: {} })).body.seen.query.number, 1.5);
  });
});
