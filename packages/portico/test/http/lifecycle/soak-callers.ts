// Misbehaving callers, in their own thread so that they do not slow down the measurements: each sends a request,
// stops reading or writing at some point, and leaves with FIN or RST after a while. Others replace them.

import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { WebSocket } from "ws";
import { RawConnection } from "../../support/raw-connection.ts";
import { frame, initialisation } from "../graphql/random-frames.ts";

export interface SoakTarget {
  readonly url: string;
  readonly key: string;
  /** Paths of static files. */
  readonly files: readonly string[];
  /** The number of concurrent callers. */
  readonly callers: number;
}

// Passed by the test that starts this thread.
const target = workerData as SoakTarget;
const authorization = `Bearer ${target.key}`;
const json = { Authorization: authorization, "Content-Type": "application/json" };
const form = { "Content-Type": "application/x-www-form-urlencoded" };
const longPost = JSON.stringify({ title: "Never finished", body: "x".repeat(90_000) });
const page = JSON.stringify({ query: "{ posts(limit: 100) { id title body author { name } } }" });
const subscription = JSON.stringify({ query: "subscription { postCreated { id title body } }" });

const socketHeaders = {
  ...{ Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Version": "13" },
  ...{ "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "graphql-transport-ws" },
};

interface RawRequest {
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request for each kind of endpoint. */
const requests: readonly RawRequest[] = [
  { line: "GET /posts?limit=100", headers: { Authorization: authorization } },
  { line: "POST /posts", headers: json, body: longPost },
  { line: "POST /graphql", headers: json, body: page },
  { line: "POST /graphql", headers: { ...json, Accept: "text/event-stream" }, body: subscription },
  {
    line: `GET /graphql?query=${encodeURIComponent("subscription { postCreated { id title body } }")}`,
    headers: { Authorization: authorization, Accept: "text/event-stream" },
  },
  { line: "GET /oauth/authorize?client_id=none&response_type=code", headers: { Accept: "text/html" } },
  {
    line: "POST /oauth/token",
    headers: form,
    body: `grant_type=refresh_token&refresh_token=${"x".repeat(9_000)}`,
  },
  { line: "GET /graphql", headers: { Accept: "text/html", "Accept-Encoding": "br" } },
  ...target.files.map((file) => ({ line: `GET ${file}`, headers: { "Accept-Encoding": "br" } })),
  { line: "GET /healthz" },
  { line: "GET /nowhere" },
];

type Misbehaviour = (connection: RawConnection, request: RawRequest) => Promise<void>;

const misbehaviours: readonly Misbehaviour[] = [
  async function leavesBeforeTheHeadersEnd({ socket }, { line }) {
    socket.write(`${line} HTTP/1.1\r\nHost: a\r\nX-Slow: `);
    await pause();
  },
  async function leavesInTheMiddleOfTheBody(connection, { line, headers = {}, body = "" }) {
    const length = { "Content-Length": String(Buffer.byteLength(body) + 1_000) };
    connection.request(line, { ...headers, ...length });
    connection.socket.write(body);
    await pause();
  },
  async function leavesInTheMiddleOfTheAnswer(connection, { line, headers, body }) {
    connection.request(line, headers, body);
    const { socket } = connection;
    socket.resume();
    await Promise.race([new Promise((resolve) => socket.once("data", resolve)), sleep(1_000)]);
  },
  async function leavesAtOnce(connection, { line, headers, body }) {
    connection.request(line, headers, body);
  },
  async function neverReads(connection, { line, headers, body }) {
    for (let count = 0; count < 5; count += 1) connection.request(line, headers, body);
    await pause(5);
  },
  async function sendsAByteAtATime({ socket }, { line, headers = {} }) {
    const head = `${line} HTTP/1.1\r\nHost: a\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}`;
    for (const character of head.slice(0, 40)) {
      socket.write(character);
      await sleep(50);
    }
  },
];

async function misbehaveOverHttp(): Promise<void> {
  const connection = await RawConnection.open(target.url, { reads: false });
  await oneOf(misbehaviours)(connection, oneOf(requests));
  if (Math.random() < 0.5) connection.close();
  else connection.reset();
}

/** Repeatedly requests large files, on one new connection after another, reads none of them, and stays. */
async function stayWithoutReading(): Promise<void> {
  const opened: RawConnection[] = [];
  while (!isOver) {
    const connection = await RawConnection.open(target.url, { reads: false });
    for (const file of [...target.files, ...target.files, ...target.files, ...target.files])
      connection.request(`GET ${file}`, { "Accept-Encoding": "gzip" });
    opened.push(connection);
    await sleep(500);
  }
  for (const connection of opened) connection.reset();
}

/** Subscribes, sends more requests, reads nothing, and leaves. */
async function misbehaveOverWebSocket(): Promise<void> {
  const socket = new WebSocket(`${target.url.replace("http", "ws")}/graphql`, "graphql-transport-ws");
  socket.on("error", () => {});
  await Promise.race([new Promise((resolve) => socket.once("open", resolve)), sleep(2_000)]);
  if (socket.readyState === socket.OPEN) {
    if (Math.random() < 0.8)
      socket.send(JSON.stringify({ type: "connection_init", payload: { authorization } }));
    await sleep(50);
    if (Math.random() < 0.7) socket.pause();
    const payload = JSON.parse(Math.random() < 0.5 ? subscription : page);
    for (let id = 0; id < 5 && socket.readyState === socket.OPEN; id += 1)
      socket.send(JSON.stringify({ id: String(id), type: "subscribe", payload }));
    await pause(3);
  }
  if (Math.random() < 0.5) socket.close();
  socket.terminate();
}

type SocketMisbehaviour = (connection: RawConnection) => Promise<void>;

const socketMisbehaviours: readonly SocketMisbehaviour[] = [
  async function pingsBeforeItHasShownACredential({ socket }) {
    const pings = Buffer.concat(Array.from({ length: 500 }, () => frame(9, Buffer.alloc(125))));
    for (let count = 0; count < 20 && socket.writable; count += 1) {
      socket.write(pings);
      await sleep(10);
    }
    await pause();
  },
  async function neverEndsAMessage({ socket }) {
    socket.write(frame(1, Buffer.from(initialisation(target.key))));
    socket.write(frame(1, Buffer.alloc(100_000, "x"), { length: 1_000_000n }));
    await pause(4);
  },
  async function neverEndsAFragmentedMessage({ socket }) {
    socket.write(frame(1, Buffer.from(initialisation(target.key))));
    for (let count = 0; count < 100 && socket.writable; count += 1) {
      socket.write(frame(count === 0 ? 1 : 0, Buffer.alloc(5_000, "x"), { isLast: false }));
      await sleep(10);
    }
  },
  async function asksAndReadsNothing({ socket }) {
    socket.write(frame(1, Buffer.from(initialisation(target.key))));
    await sleep(50);
    for (let id = 0; id < 30 && socket.writable; id += 1) {
      const payload = JSON.parse(id % 10 === 0 ? subscription : page);
      socket.write(frame(1, Buffer.from(JSON.stringify({ id: String(id), type: "subscribe", payload }))));
    }
    await pause(5);
  },
  async function sendsAByteAtATime({ socket }) {
    for (const byte of frame(1, Buffer.from(initialisation(target.key))).subarray(0, 40)) {
      socket.write(Buffer.from([byte]));
      await sleep(50);
    }
  },
  async function leavesWithoutAWord() {},
];

/** The same without a client library, so that it can violate the protocol. */
async function misbehaveOverRawSocket(): Promise<void> {
  const connection = await RawConnection.open(target.url, { reads: false });
  connection.request("GET /graphql", socketHeaders);
  await oneOf(socketMisbehaviours)(connection);
  if (Math.random() < 0.5) connection.close();
  else connection.reset();
}

/** Most leave soon, some stay. */
function pause(seconds = 2): Promise<void> {
  return sleep(Math.random() ** 2 * seconds * 1_000);
}

function oneOf<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)]!;
}

let isOver = false;
let completed = 0;
parentPort!.once("message", () => {
  isOver = true;
});
await Promise.all(
  Array.from({ length: target.callers }, async (_, number) => {
    // Few enough to leave some of the credential's subscriptions to other callers.
    const kinds = [
      misbehaveOverWebSocket,
      number < 100 ? stayWithoutReading : misbehaveOverHttp,
      misbehaveOverRawSocket,
    ];
    const misbehave = kinds[number % 10] ?? misbehaveOverHttp;
    while (!isOver) {
      await misbehave();
      completed += 1;
    }
  }),
);
parentPort!.postMessage(completed);
parentPort!.close();
