// Random clients of WebSockets and server-sent events, while PostgreSQL is stopped and started: the server keeps running,
// logs no error that a client caused, and keeps nothing open for clients that have disconnected.
//
// PORTICO_FUZZ_SEED repeats a run, PORTICO_FUZZ_MESSAGES makes it longer.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { countConnections, countHandles, rssMib } from "../../support/linux-process.ts";
import { OwnPostgres } from "../../support/own-postgres.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { RawConnection } from "../../support/raw-connection.ts";
import { makeWorkspace, onEachDatabase, PorticoProcess, type Workspace } from "../../support/server.ts";
import { graphqlRequest, initialisation, message, oddFrame, Random, textFrames } from "./random-frames.ts";

const seed = Number(process.env.PORTICO_FUZZ_SEED ?? Date.now() % 2 ** 32);
/** Messages for each database. */
const messages = randomRuns(10_000, 5_000, "PORTICO_FUZZ_MESSAGES");
const warmUpMessages = 1_000;
const callersAtOnce = 25;
const maxSubscriptions = 100;
/** Allows for garbage, and for connections to PostgreSQL that are opened on demand. */
const slackMib = 100;
const slackHandles = 24;

const headersOfSocket = {
  ...{ Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Version": "13" },
  ...{ "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "graphql-transport-ws" },
};

onEachDatabase("random stream clients", (database) => {
  let own: OwnPostgres | undefined;
  let workspace: Workspace;
  let portico: PorticoProcess;
  let mayCall = Promise.resolve();
  before(async () => {
    own = database === "postgres" ? await OwnPostgres.start() : undefined;
    workspace = await makeWorkspace(database, own?.url);
    portico = await PorticoProcess.start(workspace);
  });
  after(async () => {
    await portico?.stop();
    await (own ? own.remove() : workspace?.remove());
  });

  /** Sends some of the `left` messages over one WebSocket, then disconnects in a random way. */
  async function callOverWebSocket(random: Random, budget: Budget): Promise<void> {
    const connection = await RawConnection.open(portico.url, { reads: !random.isOnce(8) });
    connection.request("GET /graphql", headersOfSocket);
    const { socket } = connection;
    if (random.isOnce(10)) socket.write(oddFrame(random));
    if (!random.isOnce(8)) socket.write(textFrames(random, initialisation(portico.key)));
    if (!random.isOnce(4)) await Promise.race([sleep(200), initialised(connection)]);
    for (let count = 1 + random.below(20); count > 0 && budget.take(); count -= 1) {
      const sent = random.isOnce(12) ? oddFrame(random) : textFrames(random, message(random, portico.key));
      write(connection, random, sent);
      if (random.isOnce(3)) await sleep(random.below(8));
    }
    await leave(connection, random);
  }

  async function callForEvents(random: Random, budget: Budget): Promise<void> {
    const connection = await RawConnection.open(portico.url, { reads: !random.isOnce(8) });
    const lastEventId = random.isOnce(3) ? random.of(["0", "1", "x", "99999999", "-1", "\u00ff"]) : undefined;
    const headers = {
      Authorization: `Bearer ${portico.key}`,
      Accept: "text/event-stream",
      ...(lastEventId !== undefined && { "Last-Event-ID": lastEventId }),
    };
    for (let count = 1 + random.below(3); count > 0 && budget.take(); count -= 1) {
      const body = graphqlRequest(random);
      if (random.isOnce(5)) {
        const query = encodeURIComponent(/"query":"([^"\\]*)"/.exec(body)?.[1] ?? "{");
        connection.request(`GET /graphql?query=${query}`, headers);
      } else connection.request("POST /graphql", { ...headers, "Content-Type": "application/json" }, body);
      if (random.isOnce(2)) await sleep(random.below(20));
    }
    await leave(connection, random);
  }

  async function callAll(first: number, count: number): Promise<void> {
    const budget = new Budget(count);
    await Promise.all(
      Array.from({ length: callersAtOnce }, async (_, number) => {
        const random = new Random(first + number);
        while (budget.isLeft) {
          await mayCall;
          await (random.isOnce(4) ? callForEvents : callOverWebSocket)(random, budget);
        }
      }),
    );
  }

  /** Creates and updates posts meanwhile, so that there are events. */
  async function writeAll(isOver: () => boolean): Promise<void> {
    for (let count = 0; !isOver(); count += 1) {
      const { status } = await portico.request("/posts", { body: { title: `Post ${count}` } });
      assert.ok(status === 201 || status === 503, String(status));
      await sleep(40);
    }
  }

  async function stopAndStart(isOver: () => boolean): Promise<void> {
    const random = new Random(seed);
    while (own && !isOver()) {
      // All clients disconnect, and others connect during the outage, so the server has to start listening again.
      const pause = Promise.withResolvers<void>();
      mayCall = pause.promise;
      await sleep(300);
      const stopped = own.stop();
      await sleep(random.below(30));
      pause.resolve();
      await stopped;
      await sleep(700);
      await own.restart();
      await sleep(1_500);
    }
  }

  test(`leave nothing open (PORTICO_FUZZ_SEED=${seed})`, {
    timeout: 120_000,
  }, async () => {
    await callAll(seed, warmUpMessages);
    await settled();
    const before = { rss: rssMib(portico.pid), handles: countHandles(portico.pid) };

    let isOver = false;
    const others = [writeAll(() => isOver), stopAndStart(() => isOver)];
    await callAll(seed + callersAtOnce, messages - warmUpMessages);
    isOver = true;
    await Promise.all(others);
    await settled();

    assert.deepEqual(faultsOf(portico, own !== undefined), []);
    await subscribeAll();
    await until(
      () => countHandles(portico.pid) <= before.handles + slackHandles,
      () => `${countHandles(portico.pid)} handles, ${before.handles} before`,
    );
    await until(
      () => rssMib(portico.pid) < before.rss + slackMib,
      () => `${rssMib(portico.pid)} MiB, ${before.rss} before`,
    );
    await until(
      () => countConnections(portico.url) <= 4,
      () => `${countConnections(portico.url)} connections`,
    );
  });

  /** Waits until the server is ready and has closed the connections of disconnected clients. */
  async function settled(): Promise<void> {
    for (let tries = 0; (await portico.request("/posts?limit=1")).status !== 200; tries += 1) {
      assert.ok(tries < 100, "the server does not serve");
      await sleep(100);
    }
    await until(
      () => countConnections(portico.url) <= 4,
      () => `${countConnections(portico.url)} connections`,
    );
  }

  /** Opens as many subscriptions as a credential may have: this fails if others are still open. */
  async function subscribeAll(): Promise<void> {
    const socket = await TestSocket.ready(portico);
    for (let number = 0; number < maxSubscriptions; number += 1)
      socket.subscribe(`s${number}`, "subscription { postCreated { title } }");
    await sleep(500);
    await portico.request("/posts", { body: { title: "To all" } });
    await Promise.all(
      Array.from({ length: maxSubscriptions }, (_, number) => socket.results(`s${number}`, 1)),
    );
    const results = socket.messages.filter(({ type }) => type === "next");
    assert.equal(
      new Set(results.map(({ id }) => id)).size,
      maxSubscriptions,
      JSON.stringify(socket.messages.find(({ type }) => type === "error")),
    );
    await socket.close();
  }
});

/** The number of messages still to be sent. */
class Budget {
  #left: number;

  constructor(count: number) {
    this.#left = count;
  }

  get isLeft(): boolean {
    return this.#left > 0;
  }

  take(): boolean {
    if (this.#left <= 0) return false;
    this.#left -= 1;
    return true;
  }
}

/** Whether the connection has been upgraded, and its credential accepted or rejected. */
async function initialised(connection: RawConnection): Promise<void> {
  for (let tries = 0; tries < 40 && connection.received.length < 200; tries += 1) await sleep(5);
}

/** Writes the bytes at once, or in two parts. */
function write({ socket }: RawConnection, random: Random, bytes: Buffer): void {
  if (!socket.writable) return;
  const at = random.isOnce(5) ? random.below(bytes.length) : 0;
  if (at > 0) socket.write(bytes.subarray(0, at));
  socket.write(bytes.subarray(at));
}

async function leave(connection: RawConnection, random: Random): Promise<void> {
  if (random.isOnce(2)) await sleep(random.below(60));
  const ways: readonly (() => void)[] = [
    () => connection.close(),
    () => connection.reset(),
    () => void connection.socket.end(),
  ];
  random.of(ways)();
  await connection.isClosedWithin(30);
  connection.reset();
}

/** Errors in the log, except those about outages of PostgreSQL. */
function faultsOf({ output }: PorticoProcess, hasOutages: boolean): string[] {
  const errors = output
    .split("\n")
    .filter((line) => /^\{"level":[56]0/.test(line) || line.includes("portico: "));
  return hasOutages ? errors.filter((line) => !isOfOutage(line)) : errors;
}

function isOfOutage(line: string): boolean {
  if (line.includes("unhandled rejection")) return false;
  return (
    /"msg":"PostgreSQL can(not)? be reached/.test(line) ||
    /"code":"(CONNECT\w*|CONNECTION_\w+|ECONN\w+|EPIPE|57P0\d|08\w{3}|unavailable)"/.test(line)
  );
}

async function until(isReached: () => boolean, describe: () => string): Promise<void> {
  for (let tries = 0; tries < 150; tries += 1) {
    if (isReached()) return;
    await sleep(100);
  }
  assert.fail(describe());
}
