// Code that does not wait for its operations on rows: its transaction fails if it ends before them, or if they fail, and
// neither the process nor other requests notice. An unhandled rejection would end this process, which embeds the server.

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { app, integer, resource, route, text } from "../../../src/index.ts";
import { runTimed } from "../../../src/jobs/timed-run.ts";
import { AwaitedResults } from "../../../src/lib/awaited-results.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const logs = resource("log", {
  fields: { line: text({ max: 10 }) },
  hooks: {
    after: {
      async create({ line }) {
        if (line.startsWith("slow")) await sleep(20);
      },
    },
  },
});

const notes = resource("note", {
  fields: { title: text({ max: 20 }) },
  hooks: {
    after: {
      async create({ id, title }, { rows }) {
        const add = (line: string) => rows.create(logs, { line });
        if (title === "good") await add(id.slice(-8));
        if (title === "late") void add("late");
        if (title === "refused") {
          void add("longer than a line");
          await rows.count(logs);
        }
        if (title === "read") void rows.get(notes, "none");
        // The first failure does not end the other, which goes on.
        if (title === "all") await Promise.all([add("longer than a line"), add("slow")]).catch(() => {});
        if (title === "later") {
          const failing = add("longer than a line");
          await sleep(5);
          await failing.catch(() => {});
        }
      },
    },
  },
});

const unawaited = /await every operation on rows/;

onEachDatabase("operations on rows that code does not await", (database) => {
  const server = serve(database, {
    app: app({
      name: "Unawaited",
      resources: [notes, logs],
      routes: [
        route("GET /v1/read", { scope: null, answer: { count: integer() } }, ({ rows }) => {
          void rows.list(notes, {}, { after: "none" });
          return { count: 0 };
        }),
        route("POST /v1/written", { scope: null }, ({ rows }) => {
          void rows.create(logs, { line: "route" });
        }),
      ],
    }),
  });
  const create = (title: string) => server.request("/v1/notes", { body: { title } });
  const members = async (path: string): Promise<readonly { readonly line?: string }[]> =>
    (await server.request(`${path}?limit=100`)).body.data;

  test("belong to the transaction if they end before it; if they fail, it fails", async () => {
    const sent = Array.from(
      { length: 20 },
      (_, index) => ["late", "read", "all", "refused", "good"][index % 5]!,
    );
    const answers = await Promise.all(sent.map(create));
    deepEqual(
      answers.map(({ status }) => status),
      sent.map((title) => (title === "refused" ? 422 : 201)),
    );
    equal((await members("/v1/notes")).length, 16);
    const lines = (await members("/v1/logs")).map(({ line }) => line);
    deepEqual(
      ["late", "slow"].map((line) => lines.filter((each) => each === line).length),
      [4, 4],
    );
    equal(lines.length, 12);
  });

  test("are no fault if code awaits them later", async () => {
    equal((await create("later")).status, 201);
  });

  test("make a route fail that ends before them, and nothing of it remains", async () => {
    const written = () => server.request("/v1/written", { method: "POST" });
    const answers = await Promise.all([server.request("/v1/read"), written(), create("good"), written()]);
    deepEqual(
      answers.map(({ status }) => status),
      [500, 500, 201, 500],
    );
    match(server.portico.output, unawaited);
    equal((await members("/v1/logs")).length, 13);
  });
});

test("a handler or a schedule that does not await an operation has failed", async () => {
  const options = { timeoutMs: 10_000, stopping: new AbortController().signal };
  const outcomes = [Promise.reject(new Error("refused")), sleep(1_000, undefined, { ref: false })].map(
    (operation) =>
      runTimed(async (_signal, results) => {
        void results.add(operation);
        await sleep(1);
      }, options),
  );
  const [refused, pending] = (await Promise.all(outcomes)).map((outcome) =>
    outcome.status === "failed" ? outcome.error.message : outcome.status,
  );
  equal(refused, "refused");
  match(pending!, unawaited);
});

test("an operation that begins after its code has ended, and fails, is a warning", async () => {
  const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
  const results = new AwaitedResults();
  results.end();
  void results.add(Promise.reject(new Error("too late")));
  equal((await warned).message, "too late");
});
