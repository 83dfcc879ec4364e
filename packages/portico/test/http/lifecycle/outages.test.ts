// While PostgreSQL is unavailable, requests are refused at once and are not executed later. They are served again as
// soon as it is back.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { FailingProxy } from "../../support/failing-proxy.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { createdPosts, subscriptionStarted, titlesOf } from "../../support/graphql/subscriptions.ts";
import {
  authorizeUrl,
  type CreatedClient,
  makeClient,
  makePublicClient,
  post as postForm,
} from "../../support/oauth.ts";
import { OwnPostgres } from "../../support/own-postgres.ts";
import { TestServer } from "../../support/scenario.ts";
import { type Answer, PorticoProcess, whyNoPostgres } from "../../support/server.ts";

/** A request waits for two seconds. The rest allows for other work on the machine; the time limit of a statement is longer. */
const maxWaitMs = 8_000;
/** Likewise for the second within which requests are served again. */
const maxReturnMs = 8_000;

type Call = () => Promise<Pick<Answer, "status" | "headers" | "text">>;

describe("outages of PostgreSQL", { skip: whyNoPostgres() }, () => {
  const server = new TestServer();
  let ownPostgres: OwnPostgres;
  let proxy: FailingProxy;
  let machine: CreatedClient;
  let page: string;
  let id: string;

  before(async () => {
    ownPostgres = await OwnPostgres.start({ maxConnections: 24 });
    proxy = await FailingProxy.start(ownPostgres.port);
    const databaseUrl = `postgres://portico:portico@127.0.0.1:${proxy.port}/postgres`;
    server.workspace = { folder: "", databaseUrl, remove: async () => {} };
    server.portico = await PorticoProcess.start(server.workspace);
    machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    page = authorizeUrl(server, await makePublicClient(server, "posts:read"), "posts:read").url;
    ({ id } = await server.create("/posts", { title: "Before" }));
  });
  after(async () => {
    await server.portico?.stop();
    await proxy?.close();
    await ownPostgres?.remove();
  });

  const get = (path: string, key?: string) => () => server.request(path, key === undefined ? {} : { key });
  const send = (method: string, path: string, body: unknown) => () => server.request(path, { method, body });
  const write = (title: string) => send("POST", "/posts", { title });
  const token = () => {
    const { clientId, clientSecret = "" } = machine;
    const fields = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    return postForm(server, "/token", { ...fields, scope: "posts:read" });
  };
  const signInPage = async () => {
    const response = await fetch(page, { redirect: "manual", headers: { accept: "text/html" } });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const calls = (): Record<string, Call> => ({
    "a read": get(`/posts/${id}`),
    "a page": get("/posts?limit=2"),
    "a search": get("/posts?q=before"),
    "a write": write("Never"),
    "an update": send("PATCH", `/posts/${id}`, { title: "Never" }),
    "a delete": send("DELETE", `/posts/${id}`, undefined),
    GraphQL: send("POST", "/graphql", { query: "{ posts(limit: 1) { id } }" }),
    "a mutation": send("POST", "/graphql", {
      query: 'mutation { createPost(input: { title: "Never" }) { id } }',
    }),
    "an unknown key": get("/posts", `sk_test_${"A".repeat(43)}`),
    "the probe of a load balancer": get("/readyz"),
    "a token": token,
    "a page of the authorization server": signInPage,
  });

  /** @returns the response, after asserting that it came in time */
  async function timed(call: Call, name: string, limitMs = maxWaitMs): ReturnType<Call> {
    const startedAt = performance.now();
    const answer = await call();
    const ms = Math.round(performance.now() - startedAt);
    assert.ok(ms < limitMs, `${name} took ${ms} ms`);
    return answer;
  }

  async function expectRefused(): Promise<void> {
    const all = Object.entries(calls());
    const refused = await Promise.all(all.map(([name, call]) => timed(call, name)));
    for (const [at, [name]] of all.entries()) {
      const { status, headers, text } = refused[at]!;
      assert.equal(status, 503, `${name}: ${text}`);
      assert.ok(headers.get("retry-after"), name);
    }
    assert.equal((await server.request("/healthz")).status, 200);
  }

  /** Asserts that every kind of request soon works again, and that nothing that was refused was executed. */
  async function expectReturn(): Promise<void> {
    const until = performance.now() + maxReturnMs;
    while ((await server.request(`/posts/${id}`)).status !== 200) {
      assert.ok(performance.now() < until, "reads are refused for too long");
      await sleep(50);
    }
    assert.equal((await timed(write("After"), "a write")).status, 201);
    assert.equal((await timed(token, "a token")).status, 200);
    const { body } = await server.request("/posts?limit=100");
    assert.deepEqual(
      body.data.filter(({ title }: { title: string }) => title === "Never"),
      [],
    );
  }

  /** A subscription that has certainly started. */
  async function subscribed(): Promise<TestStream> {
    const stream = await TestStream.open(server.portico, createdPosts);
    while (stream.allResults.length === 0) {
      await server.create("/posts", { title: "Seen" });
      await subscriptionStarted();
    }
    return stream;
  }

  async function expectEvent(stream: TestStream, title: string): Promise<void> {
    for (let count = 1; ; count += 1) if (titlesOf(await stream.results(count)).at(-1) === title) return;
  }

  function linesOf(text: string): number {
    return server.portico.output.split("\n").filter((line) => line.includes(text)).length;
  }

  /** The numbers of log lines so far: outages, returns, and failed requests. */
  async function logged(): Promise<{ outages: number; returns: number; failures: number }> {
    await sleep(400);
    return {
      outages: linesOf("PostgreSQL cannot be reached"),
      returns: linesOf("PostgreSQL can be reached again"),
      failures: linesOf("request failed"),
    };
  }

  test("subscriptions continue after PostgreSQL was stopped, and the outage is logged once", async () => {
    const stream = await subscribed();
    await ownPostgres.stop();
    const during = await logged();
    await expectRefused();
    await expectRefused();
    await ownPostgres.restart();
    await expectReturn();
    await expectEvent(stream, "After");
    stream.close();
    assert.deepEqual(await logged(), { outages: 1, returns: 1, failures: during.failures });
  });

  test("responses are truthful when PostgreSQL is killed during requests", async () => {
    const outcomes = new Map<string, string>();
    let isOver = false;
    const writing = Array.from({ length: 8 }, async (_, writer) => {
      for (let number = 0; !isOver; number += 1) {
        const title = `Killed ${writer} ${number}`;
        const { status, text } = await timed(write(title), title);
        outcomes.set(title, status === 503 && text.includes("may or may not") ? "unknown" : String(status));
      }
    });
    await sleep(300);
    await ownPostgres.kill();
    await sleep(1_000);
    await expectRefused();
    isOver = true;
    await Promise.all(writing);
    await ownPostgres.restart();
    await expectReturn();
    const sql = postgres(server.workspace.databaseUrl, { max: 1 });
    const rows = await sql`select title from posts where title like 'Killed %'`;
    await sql.end();
    const stored = new Set(rows.map(({ title }) => title as string));
    for (const [title, outcome] of outcomes) {
      assert.match(outcome, /^(201|503|unknown)$/, title);
      if (outcome !== "unknown") assert.equal(stored.has(title), outcome === "201", `${title} ${outcome}`);
    }
  });

  test("nothing that was refused while the network dropped packets is executed later", async () => {
    const stream = await subscribed();
    proxy.silence();
    await expectRefused();
    await expectRefused();
    proxy.resume();
    await expectReturn();
    await expectEvent(stream, "After");
    stream.close();
  });

  test("requests are refused while PostgreSQL starts", async () => {
    proxy.pretendToStart();
    await expectRefused();
    proxy.pretendToHaveStarted();
    await expectReturn();
  });

  test("requests are refused while PostgreSQL has no free connection", async () => {
    const direct = `postgres://portico:portico@127.0.0.1:${ownPostgres.port}/postgres`;
    const admin = postgres(direct, { max: 1, onnotice: () => {} });
    const others: postgres.Sql[] = [];
    try {
      // Ends Portico's connections and takes all free ones, until Portico has none, nor one that is being opened.
      for (let rounds = 0; rounds < 3; await sleep(50)) {
        const ended =
          await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'portico'`;
        const other = postgres(direct, { max: 1, onnotice: () => {} });
        others.push(other);
        const isFull = await other`select 1`.then(
          () => false,
          (error: { code?: string }) => error.code === "53300",
        );
        rounds = isFull && ended.length === 0 ? rounds + 1 : 0;
      }
      await expectRefused();
    } finally {
      await Promise.all([admin, ...others].map((sql) => sql.end()));
    }
    await expectReturn();
  });
});
