// Usage of API keys: a log line for each use, the time of the last one, and counts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openReader } from "../../support/database-reader.ts";
import {
  expectAnswer,
  makeTenant,
  runCommand,
  type Scenario,
  scenarios,
  serve,
} from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico, portico, type Workspace } from "../../support/server.ts";

interface Count {
  readonly from: string;
  readonly to: string;
  readonly route: string;
  readonly statusClass: string;
  readonly count: number;
}
interface Key {
  readonly id: string;
  readonly key: string;
}

const newKey = (workspace: Pick<Workspace, "databaseUrl">, scopes: string): Promise<Key> =>
  runCommand(workspace, ["key", "create", "--name", "Counted", "--scopes", scopes]);

/** Reads a value until it is as `wanted`, for five seconds at most: uses are written about once a second. */
async function eventually<T>(read: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  for (const until = Date.now() + 5_000; ; await sleep(50)) {
    const value = await read();
    if (wanted(value) || Date.now() > until) return value;
  }
}

/** Totals over all steps, such as `2xx /posts 3`. */
function totals(counts: readonly Count[]): string[] {
  const sums = new Map<string, number>();
  for (const { statusClass, route, count } of counts) {
    const name = `${statusClass} ${route}`;
    sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return [...sums].map(([name, count]) => `${name} ${count}`).sort();
}

onEachDatabase("key usage", (database) => {
  const server = serve(database);
  const countsOf = async ({ id }: Key, query = ""): Promise<Count[]> =>
    (await server.request(`/v1/api-keys/${id}/usage${query}`)).body.data;
  const use = async ({ key }: Key, times: number, path: string, more: object = {}): Promise<void> => {
    await Promise.all(Array.from({ length: times }, () => server.request(path, { key, ...more })));
  };
  const reader = async <T>(sql: string, map: (rows: unknown[][]) => T): Promise<T> => {
    const opened = openReader(server.workspace.databaseUrl);
    try {
      return map(await opened.rows(sql));
    } finally {
      await opened.close();
    }
  };
  const lastUse = ({ id }: Key) =>
    reader(`select last_used_at, updated_at from api_keys where id = '${id}'`, ([row]) =>
      row!.map((timestamp) => (timestamp === null ? 0 : new Date(timestamp as string).getTime())),
    );

  test("each use is a log line with key, tenant, route and address, and nothing else", async () => {
    const { id, key } = await newKey(server.workspace, "posts:read");
    const headers = { "x-request-id": `use-${id}` };
    const path = "/posts/post_00000000000000000000000000?fields=title";
    await server.request(path, { key, headers });
    const lines = () =>
      server.portico.output.split("\n").filter((line) => line.includes("api_key.used") && line.includes(id));
    const [line, ...others] = await eventually(
      async () => lines(),
      ({ length }) => length > 0,
    );
    assert.deepEqual(others, []);
    const { time, ownerId, ...rest } = JSON.parse(line!);
    assert.ok(Math.abs(Date.now() - time) < 10_000);
    assert.match(ownerId, /^user_/);
    assert.deepEqual(rest, {
      level: 30,
      keyId: id,
      route: "/posts/:id",
      ip: "127.0.0.1",
      requestId: `use-${id}`,
      msg: "api_key.used",
    });
    assert.ok(!server.portico.output.includes(key.slice(12)), "the key");
  });

  test("a request without a valid key is not counted", async () => {
    const headers = { "x-request-id": "without-key" };
    await server.request("/posts", { key: null, headers });
    const lines = () => server.portico.output.split("\n").filter((line) => line.includes('"without-key"'));
    await eventually(
      async () => lines(),
      ({ length }) => length > 0,
    );
    assert.equal(lines().length, 1);
    assert.doesNotMatch(lines()[0]!, /api_key\.used/);
  });

  test("every request is counted once, by its route and the class of its status", async () => {
    const key = await newKey(server.workspace, "posts:read,posts:write");
    await use(key, 30, "/posts");
    await use(key, 7, "/v1/posts?limit=1");
    await use(key, 5, "/posts/post_00000000000000000000000000");
    await use(key, 4, "/users");
    await use(key, 3, "/posts", { body: { colour: "red" } });
    await use(key, 2, "/posts", { body: { title: "Counted" } });
    const expected = ["2xx /posts 32", "2xx /v1/posts 7", "4xx /posts 3", "4xx /posts/:id 5", "4xx /users 4"];
    const counts = await eventually(
      () => countsOf(key),
      (usage) => totals(usage).join() === expected.join(),
    );
    assert.deepEqual(totals(counts), expected);
  });

  test("the last use moves forward, and the key counts as unchanged", async () => {
    const key = await newKey(server.workspace, "posts:read");
    const [never, updatedAt] = await lastUse(key);
    assert.equal(never, 0);
    const startedAt = Date.now();
    await use(key, 1, "/posts");
    const [first = 0] = await eventually(
      () => lastUse(key),
      ([at]) => at !== 0,
    );
    assert.ok(first >= startedAt && first <= Date.now());
    await use(key, 1, "/posts");
    const [second = 0, updatedAfter] = await eventually(
      () => lastUse(key),
      ([at]) => at !== first,
    );
    assert.ok(second > first);
    assert.equal(updatedAfter, updatedAt);
  });

  test("uses are written about once a second, however many there are", async () => {
    const key = await newKey(server.workspace, "posts:read");
    const seen = new Set<number>();
    for (const until = Date.now() + 3_000; Date.now() < until; ) {
      await use(key, 10, "/posts?limit=1");
      seen.add((await lastUse(key))[0]!);
    }
    seen.delete(0);
    assert.ok(seen.size >= 1 && seen.size <= 4, `${seen.size} writes`);
  });

  test("a step is a minute, an hour or a day of UTC", async () => {
    const key = await newKey(server.workspace, "posts:read");
    const from = encodeURIComponent(new Date().toISOString());
    await use(key, 3, "/posts");
    const minutes = await eventually(
      () => countsOf(key, `?step=minute&from=${from}`),
      (usage) => totals(usage).join() === "2xx /posts 3",
    );
    assert.deepEqual(totals(minutes), ["2xx /posts 3"]);
    const lengths = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
    for (const [step, length] of Object.entries(lengths)) {
      const counts = await countsOf(key, `?step=${step}&from=${from}`);
      assert.deepEqual(totals(counts), ["2xx /posts 3"], step);
      for (const count of counts) {
        assert.equal(Date.parse(count.from) % length, 0, step);
        assert.equal(Date.parse(count.to) - Date.parse(count.from), length, step);
      }
    }
    assert.deepEqual(await countsOf(key, `?to=${from}`).then((counts) => counts.length <= 1), true);
    assert.deepEqual(await countsOf(key, "?from=2026-01-01&to=2026-01-02"), []);
  });

  test("without parameters the usage is that of the last day by hours, in the usual envelope of lists", async () => {
    const key = await newKey(server.workspace, "posts:read");
    const { body } = await server.request(`/v1/api-keys/${key.id}/usage`);
    assert.deepEqual(body, { data: [], pagination: { nextCursor: null, hasMore: false } });
  });

  test("the usage of another tenant's key is 404, and requires the scope", async () => {
    const ownKey = await newKey(server.workspace, "keys:read");
    const other = await makeTenant(server.workspace, "keys:read,posts:read");
    const path = `/v1/api-keys/${ownKey.id}/usage`;
    expectAnswer(await server.request(path, { key: ownKey.key }), { status: 200 });
    expectAnswer(await server.request(path, { key: other.key }), { status: 404, code: "not_found" });
    const without = await newKey(server.workspace, "posts:read");
    for (const id of [ownKey.id, "nothing"]) {
      const refused = await server.request(`/v1/api-keys/${id}/usage`, { key: without.key });
      expectAnswer(refused, { status: 403, code: "insufficient_scope", message: /keys:read/ });
    }
  });

  let anyKey = "";
  const faulty = (
    fact: string,
    query: string,
    field: string,
    issue: "format" | "choice" | "max" | "unknown" | "duplicate",
  ): Scenario => ({
    fact,
    path: async () => {
      anyKey ||= (await newKey(server.workspace, "posts:read")).id;
      return `/v1/api-keys/${anyKey}/usage?${query}`;
    },
    status: 422,
    code: "validation_error",
    details: [{ field, issue }],
  });
  scenarios(server, [
    faulty("a start that is not a timestamp is refused", "from=soon", "from", "format"),
    faulty("an end that is not a timestamp is refused", "to=2026-02-30", "to", "format"),
    faulty("there are three steps", "step=week", "step", "choice"),
    faulty("the time must not end before it begins", "from=2026-02-02&to=2026-02-01", "from", "max"),
    faulty("more steps than 1,500 are refused", "step=minute&from=2026-01-01&to=2026-01-03", "step", "max"),
    faulty("an unknown parameter is refused", "limit=5", "limit", "unknown"),
    faulty("a repeated parameter is refused", "step=day&step=hour", "step", "duplicate"),
    { fact: "a key that is not there has no usage", path: "/v1/api-keys/nothing/usage", status: 404 },
  ]);

  test("the command prints the same usage, for keys of its tenant only", async () => {
    const key = await newKey(server.workspace, "posts:read");
    await use(key, 2, "/posts");
    const show = async () => (await server.command("key", "usage", key.id, "--step", "day")).usage as Count[];
    // Two uses can be written at different times.
    const usage = await eventually(show, (counts) => totals(counts).join() === "2xx /posts 2");
    assert.deepEqual(totals(usage), ["2xx /posts 2"]);
    const { tenant } = await server.command("tenant", "create", "--name", "Other");
    const calls: readonly (readonly [string[], RegExp])[] = [
      [["--tenant", tenant.id], /There is no .*key with this id/],
      [["--step", "week"], /`step` must be one of minute, hour, day/],
      [["--from", "soon"], /`from` must be an ISO 8601 date and time/],
    ];
    for (const [words, line] of calls) {
      const { code, stderr } = await portico(server.workspace, ["key", "usage", key.id, ...words]);
      assert.match(stderr, line);
      assert.equal(code, 1);
    }
  });
});

onEachDatabase("key usage when the server stops", (database) => {
  test("every request with a response is counted", async () => {
    const workspace = await makeWorkspace(database);
    const counts: string[][] = [];
    try {
      const first = await Portico.start(workspace);
      const { id, key } = await newKey(workspace, "posts:read");
      for (const [running, times] of [[first, 40] as const, [undefined, 25] as const]) {
        const started = running ?? (await Portico.start(workspace, { key: first.key }));
        await Promise.all(Array.from({ length: times }, () => started.request("/posts", { key })));
        assert.equal(await started.stop(), 0);
        counts.push(totals((await runCommand(workspace, ["key", "usage", id])).usage));
      }
      assert.deepEqual(counts, [["2xx /posts 40"], ["2xx /posts 65"]]);
      const { requests } = await runCommand(workspace, ["log", "list", "--key", id]);
      assert.equal(requests.length, 65);
    } finally {
      await workspace.remove();
    }
  });
});
