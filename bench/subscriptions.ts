// Measures 1,000 open subscriptions with 200 writes a second: whether every event reaches every subscriber, the delay
// after its write was sent, and the server's CPU time and memory. On PostgreSQL with BENCH_DATABASE_URL, otherwise on SQLite.
//
//   node bench/subscriptions.ts [--subscribers 1000] [--writes 200] [--seconds 10] [--nested]

import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { interrupt, runChild } from "./child.ts";
import type { Filled } from "./fill.ts";
import { environmentFor, PorticoServer } from "./portico-server.ts";
import { Subscriber } from "./subscriber.ts";
import { createWorkspace } from "./workspace.ts";

const { values } = parseArgs({
  options: {
    subscribers: { type: "string", default: "1000" },
    writes: { type: "string", default: "200" },
    seconds: { type: "string", default: "10" },
    nested: { type: "boolean", default: false },
  },
});
const [subscribers, writes, seconds] = [values.subscribers, values.writes, values.seconds].map(Number) as [
  number,
  number,
  number,
];
const fields = values.nested ? "id title author { name }" : "id title";
/** How long to wait for events after the last write. */
const eventTimeoutMs = 5_000;

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, interrupt);

const workspace = await createWorkspace(process.env.BENCH_DATABASE_URL ? "postgres" : "sqlite");
try {
  const filled: Filled = JSON.parse(
    await runChild(process.execPath, [join(import.meta.dirname, "fill.ts"), "1000"], {
      env: environmentFor(workspace.databaseUrl),
      timeoutMs: 60_000,
    }),
  );
  const headers = { authorization: `Bearer ${filled.key}` };
  const limit = { PORTICO_GRAPHQL_SUBSCRIPTIONS: String(subscribers) };
  const server = await PorticoServer.start(workspace.databaseUrl, `/posts/${filled.ids[0]}`, headers, limit);
  try {
    await measureOn(server, filled.key);
  } finally {
    await server.stop();
  }
} finally {
  await workspace.remove();
}

async function measureOn(server: PorticoServer, key: string): Promise<void> {
  /** When each write was sent. */
  const sentAt = new Float64Array(writes * seconds);
  const expected = sentAt.length * subscribers;
  const delays = new Float64Array(expected);
  let received = 0;
  const onEvent = (number: number, now: number): void => {
    delays[received] = now - sentAt[number]!;
    received += 1;
  };
  const open: Subscriber[] = [];
  for (let count = 0; count < subscribers; count += 1) {
    const subscriber = new Subscriber(server.url, key, `subscription { postCreated { ${fields} } }`, onEvent);
    open.push(subscriber);
    await subscriber.ready;
  }
  await sleep(500);
  const own = process.cpuUsage();
  const before = { memory: server.memoryMegabytes, processor: server.processorSeconds };
  const responseTimes: number[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  const started = performance.now();
  for (let number = 0; number < sentAt.length; number += 1) {
    const due = started + (number * 1_000) / writes;
    if (due > performance.now()) await sleep(due - performance.now());
    sentAt[number] = performance.now();
    const sent = sentAt[number]!;
    create(server.url, key, agent, `n${number}.`, () => responseTimes.push(performance.now() - sent));
  }
  for (const until = Date.now() + eventTimeoutMs; received < expected && Date.now() < until; )
    await sleep(20);
  const tookSeconds = (performance.now() - started) / 1_000;
  const processor = (server.processorSeconds ?? Number.NaN) - (before.processor ?? Number.NaN);
  const { user, system } = process.cpuUsage(own);
  const percent = (used: number): string => `${((100 * used) / tookSeconds).toFixed(0)} %`;
  const spread = (times: Float64Array): string => {
    const sorted = times.toSorted();
    const at = (part: number): string => `${sorted[Math.floor((sorted.length - 1) * part)]?.toFixed(1)} ms`;
    return `p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, max ${at(1)}`;
  };
  const inOrder = open.filter(({ isInOrder }) => isInOrder).length;
  process.stdout.write(
    [
      `${subscribers} subscriptions { ${fields} }, ${writes} writes a second for ${seconds} s`,
      `events received: ${received} of ${expected}; ${inOrder} of ${subscribers} subscribers received them in order`,
      `from sending a write to receiving its event: ${spread(delays.subarray(0, received))}`,
      `from sending a write to its response: ${spread(Float64Array.from(responseTimes))}`,
      `CPU: server ${percent(processor)}, this process ${percent((user + system) / 1_000_000)}`,
      `memory: ${before.memory?.toFixed(0)} MB with the subscriptions open, ${server.memoryMegabytes?.toFixed(0)} MB at the end`,
      "",
    ].join("\n"),
  );
  for (const subscriber of open) subscriber.close();
  agent.destroy();
}

function create(url: string, key: string, agent: Agent, title: string, done: () => void): void {
  const body = JSON.stringify({ title });
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  request(`${url}/posts`, { method: "POST", agent, headers }, (response) => {
    if (response.statusCode !== 201) throw new Error(`a write was answered with ${response.statusCode}`);
    response.resume().once("end", done);
  })
    // Idle connections are closed by the server when it stops.
    .once("error", interrupt)
    .end(body);
}
