// Writes on PostgreSQL while sessions are ended, connections break, tables change, and statements and commits fail at
// random: what was acknowledged is there once, with its event; what was refused is not there; and nothing is there in part.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { app } from "../../../src/declare/app.ts";
import { integer, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { type DatabaseReader, openReader } from "../../support/database-reader.ts";
import { FailingProxy } from "../../support/failing-proxy.ts";
import { OwnPostgres } from "../../support/own-postgres.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { TestServer } from "../../support/scenario.ts";
import { type Answer, Portico, whyNoPostgres } from "../../support/server.ts";

const durationMs = randomRuns(6_000, 3_000, "PORTICO_FAULTS_MS");
const clients = 8;

const items = resource("item", {
  fields: {
    name: text({ max: 100 }),
    count: integer({ default: 0 }),
    note: text({ max: 100, optional: true }),
  },
  unique: [["name"]],
  filter: ["name"],
});
const parts = resource("part", { parent: items, fields: { name: text({ max: 100 }) } });
const declared = app({ name: "Faults", resources: [items, parts] });

/** What a caller knows of a write: that it took effect, that it did not, or neither. */
type Outcome = "done" | "refused" | "unknown";

/** A write, with the event that it must have. */
interface Attempted {
  readonly what: string;
  readonly kind: string;
  readonly field: "name" | "count";
  readonly value: string | number;
  readonly outcome: Outcome;
}

describe("faults of transactions", { skip: whyNoPostgres() }, () => {
  const server = new TestServer();
  let ownPostgres: OwnPostgres;
  let proxy: FailingProxy;
  let database: DatabaseReader;
  let isOver = false;
  const attempts: Attempted[] = [];
  let lastNumber = 0;

  before(async () => {
    ownPostgres = await OwnPostgres.start({ maxConnections: 100 });
    proxy = await FailingProxy.start(ownPostgres.port);
    const databaseUrl = `postgres://portico:portico@127.0.0.1:${proxy.port}/postgres`;
    server.workspace = { folder: "", databaseUrl, remove: async () => {} };
    server.portico = await Portico.startApp(server.workspace, declared, {
      env: { PORTICO_KEY_QUOTA: "1000000/60" },
    });
    database = openReader(`${ownPostgres.url}/postgres`);
    await database.write(failAtRandom);
  });
  after(async () => {
    await server.portico?.stop();
    await database?.close();
    await proxy?.close();
    await ownPostgres?.remove();
  });

  /** Sends a write and records what its caller knows of it. @returns the answer to a write that took effect */
  async function attempt(
    what: string,
    event: Pick<Attempted, "kind" | "field" | "value">,
    send: () => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const answer = await send();
    const { status, body } = answer;
    const isUnknown = status === 503 && body.error.message.includes("may or may not");
    assert.ok(
      status < 500 || status === 503,
      `${what}: ${answer.text}\n${server.portico.output.slice(-2000)}`,
    );
    const outcome = status < 300 ? "done" : isUnknown ? "unknown" : "refused";
    attempts.push({ what, ...event, outcome });
    return outcome === "done" ? answer : undefined;
  }

  const patch = (id: string, count: number, headers: Record<string, string> = {}) =>
    attempt("update", { kind: "item.updated", field: "count", value: count }, () =>
      server.request(`/items/${id}`, { method: "PATCH", body: { count }, headers }),
    );
  const create = (name: string, headers: Record<string, string> = {}) =>
    attempt("create", { kind: "item.created", field: "name", value: name }, () =>
      server.request("/items", { body: { name }, headers }),
    );

  /** Writes rows that no other client writes. */
  async function writeOwnRows(client: number): Promise<void> {
    for (let round = 0; !isOver; round += 1) {
      const name = `${client}-${round}`;
      const created = await create(name, round % 3 === 0 ? { "idempotency-key": name } : {});
      if (!created) continue;
      const { id } = created.body;
      lastNumber += 1;
      await patch(id, lastNumber, round % 4 === 0 ? { "idempotency-key": `${name}-patch` } : {});
      const part = `part of ${name}`;
      await attempt("create child", { kind: "part.created", field: "name", value: part }, () =>
        server.request(`/items/${id}/parts`, { body: { name: part } }),
      );
      // One unique name makes the second mutation of the pair fail now and then.
      if (round % 2 === 0) {
        const pair = [`pair ${name}`, round % 6 === 0 ? name : `twin ${name}`];
        const query = `mutation { a: createItem(input: { name: "${pair[0]}" }) { id } b: createItem(input: { name: "${pair[1]}" }) { id } }`;
        await mutate(pair[0]!, query);
      }
      if (round % 3 === 0)
        await attempt("delete", { kind: "item.deleted", field: "name", value: name }, () =>
          server.request(`/items/${id}`, { method: "DELETE" }),
        );
    }
  }

  async function mutate(name: string, query: string): Promise<void> {
    const { status, body, text: received } = await server.request("/graphql", { body: { query } });
    assert.ok(status === 200 || status === 503, received);
    const isDone = status === 200 && body.errors === undefined;
    const outcome = isDone ? "done" : received.includes("may or may not") ? "unknown" : "refused";
    attempts.push({ what: "mutation", kind: "item.created", field: "name", value: name, outcome });
  }

  /** Increases the count of a row that all clients write, if nobody has written it meanwhile. */
  async function increaseShared(id: string): Promise<void> {
    while (!isOver) {
      const read = await server.request(`/items/${id}`);
      if (read.status !== 200) continue;
      const increased = { count: read.body.count + 1 };
      const headers = { "if-match": read.headers.get("etag")! };
      const answer = await server.request(`/items/${id}`, { method: "PATCH", body: increased, headers });
      assert.ok([200, 409, 412, 503].includes(answer.status), answer.text);
    }
  }

  /** Waits for the duration of the test, and on a busy machine until every kind of write has taken effect. */
  async function enoughWrites(): Promise<void> {
    const until = Date.now() + durationMs;
    const kinds = () => new Set(attempts.filter(({ outcome }) => outcome === "done").map(({ what }) => what));
    while (Date.now() < until || kinds().size < 5) await sleep(50);
  }

  async function injectFaults(): Promise<void> {
    const sessions = "from pg_stat_activity where application_name = 'portico'";
    const faults: (() => Promise<unknown>)[] = [
      () => database.rows(`select pg_terminate_backend(pid) ${sessions} order by random() limit 2`),
      () => database.rows(`select pg_terminate_backend(pid) ${sessions} and state <> 'idle'`),
      () => database.rows(`select pg_terminate_backend(pid) ${sessions} and wait_event_type = 'Lock'`),
      () => database.write("alter table items alter column note type varchar(500)"),
      () => database.write("alter table items alter column note type text"),
      () => database.write("begin; lock table items in access exclusive mode; select pg_sleep(0.15); commit"),
      () => database.write("begin; lock table events in exclusive mode; select pg_sleep(0.05); commit"),
      async () => {
        proxy.silence();
        await sleep(100);
        proxy.resume();
      },
      async () => {
        proxy.pretendToStart();
        proxy.pretendToHaveStarted();
      },
    ];
    while (!isOver) {
      await sleep(Math.random() * 150);
      // A fault may be a victim of another: of a deadlock, for example.
      await faults[Math.floor(Math.random() * faults.length)]!().catch(() => {});
    }
  }

  test("what was acknowledged is there once, and what was refused is not", async () => {
    const shared = (await server.create("/items", { name: "shared" })).id;
    await database.write("update failing set share = 0.03");
    const running = [
      ...Array.from({ length: clients }, (_, client) => writeOwnRows(client)),
      ...Array.from({ length: 3 }, () => increaseShared(shared)),
      injectFaults(),
    ];
    await Promise.race([enoughWrites(), ...running]).finally(() => {
      isOver = true;
      return Promise.allSettled(running);
    });
    await Promise.all(running);
    await database.write("update failing set share = 0");
    // A session whose connection broke may still run a statement.
    const unfinished =
      "select 1 from pg_stat_activity where application_name = 'portico' and state <> 'idle' and pid <> pg_backend_pid()";
    while ((await database.rows(unfinished)).length > 0) await sleep(20);

    const events = (await database.rows(
      `select kind, row_id, "row"::text from events where resource in ('item', 'part') order by transaction_id, sequence`,
    )) as [string, string, string][];
    const counted = new Map<string, number>();
    for (const [kind, , row] of events) {
      const { name, count } = JSON.parse(row);
      for (const key of [`${kind} name ${name}`, `${kind} count ${count}`])
        counted.set(key, (counted.get(key) ?? 0) + 1);
    }
    const recorded = (kind: string, field: string, value: unknown) =>
      counted.get(`${kind} ${field} ${value}`) ?? 0;
    const tally: Record<string, number> = {};
    for (const { what, kind, field, value, outcome } of attempts) {
      const found =
        field === "count"
          ? events.filter(
              ([each, id, row]) => each === kind && id !== shared && JSON.parse(row).count === value,
            ).length
          : recorded(kind, field, value);
      const isAsKnown = outcome === "unknown" ? found <= 1 : found === (outcome === "done" ? 1 : 0);
      assert.ok(isAsKnown, `${what} of ${value} was ${outcome}, and has ${found} events`);
      tally[`${what} ${outcome}`] = (tally[`${what} ${outcome}`] ?? 0) + 1;
    }

    // Every row is as its last event says, and there is no row without events, nor a last event without its row.
    const rows = new Map(
      (await database.rows("select id, name, count from items union all select id, name, 0 from parts")).map(
        ([id, name, count]) => [id as string, `${name} ${count}`],
      ),
    );
    const expected = new Map<string, string>();
    for (const [kind, id, row] of events) {
      const { name, count = 0 } = JSON.parse(row);
      if (kind.endsWith("deleted")) expected.delete(id);
      else expected.set(id, `${name} ${count}`);
    }
    assert.deepEqual(rows, expected);
    // Nobody has overwritten the count of another.
    const increases = events.filter(([kind, id]) => kind === "item.updated" && id === shared).length;
    assert.equal(rows.get(shared), `shared ${increases}`);
    for (const what of ["create", "update", "create child", "mutation", "delete"])
      assert.ok((tally[`${what} done`] ?? 0) > 0, what);
  });
});

/** Makes statements and commits fail at random, in ways after which another attempt succeeds or does not. */
const failAtRandom = `
  create table failing (share float8);
  insert into failing values (0);
  create function fail_at_random() returns trigger language plpgsql as $$
  declare codes text[] := array['40001', '40P01', '57014', '23503'];
  begin
    if random() < (select share from failing) then
      raise exception 'planned' using errcode = codes[1 + floor(random() * tg_argv[0]::int)];
    end if;
    return null;
  end $$;
  create trigger fail_now after insert or update on items for each row execute function fail_at_random('4');
  create constraint trigger fail_at_commit after insert or update on items deferrable initially deferred
    for each row execute function fail_at_random('3');
`;
