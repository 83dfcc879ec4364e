// Measures one database from filling it to removing it.

import { join } from "node:path";
import { runChild } from "./child.ts";
import { Duel, type MeasuredRow, type Tell } from "./comparison.ts";
import type { Filled } from "./fill.ts";
import { LimitServer } from "./limit.ts";
import { keyHeader, type LoadTool } from "./load.ts";
import { loadTool } from "./load-tool.ts";
import { median } from "./median.ts";
import { accessToken, BareAuthority, type Client, makeClient } from "./oauth.ts";
import type { DatabaseName, Options } from "./options.ts";
import { environmentFor, PorticoServer, projectFolder } from "./portico-server.ts";
import { Rival } from "./rival.ts";
import { rivalKinds } from "./rival-kinds.ts";
import { createRow, findDeepPage, mixedLoad, readRows, tokenRow } from "./rows.ts";
import { makePlace } from "./workspace.ts";

export interface Measured {
  readonly database: DatabaseName;
  readonly tool: string;
  readonly rows: readonly MeasuredRow[];
  readonly startUpMs: number;
  readonly memory: Memory;
}

/** Resident memory of a new process, undefined where the system does not tell. */
export interface Memory {
  readonly atStartMegabytes: number | undefined;
  /** After each of so many requests, the fewest first. */
  readonly after: readonly { readonly requests: number; readonly megabytes: number | undefined }[];
}

const program = join(import.meta.dirname, "fill.ts");
const fillTimeoutMs = 30 * 60_000;
const starts = 5;
/** Memory that grows is seen by the second. */
const requestsForMemory = [200_000, 1_000_000];
const mostMinutesForMemory = 5;

export async function measure(database: DatabaseName, options: Options, tell: Tell): Promise<Measured> {
  const place = await makePlace(database);
  try {
    const tool = loadTool(options, place.folder);
    tell(`${database}: filling`);
    const filled = await fill(place.databaseUrl, options.posts);
    const start = (): Promise<PorticoServer> =>
      PorticoServer.start(place.databaseUrl, `/posts/${filled.ids[0]}`, keyHeader(filled.key));
    tell(`${database}: starting ${starts} times`);
    const startUpMs = await startUpTime(start);
    const startRivals = (): Promise<Rival[]> =>
      Promise.all(
        (options.hasRivals ? rivalKinds[database] : []).map((kind) =>
          Rival.start(kind, place.databaseUrl, filled.tenantId),
        ),
      );
    const rows = await measureRows({ start, startRivals }, filled, tool, options, (line) =>
      tell(`${database}: ${line}`),
    );
    tell(`${database}: memory after ${requestsForMemory.join(" and ")} requests`);
    const memory = await measureMemory(start, filled, tool);
    return { database, tool: tool.name, rows, startUpMs, memory };
  } finally {
    await place.remove();
  }
}

async function fill(databaseUrl: string, posts: number): Promise<Filled> {
  const output = await runChild(process.execPath, [program, String(posts)], {
    cwd: projectFolder,
    env: environmentFor(databaseUrl),
    timeoutMs: fillTimeoutMs,
  });
  return JSON.parse(output);
}

type Start = () => Promise<PorticoServer>;

async function startUpTime(start: Start): Promise<number> {
  const times: number[] = [];
  while (times.length < starts) {
    const server = await start();
    times.push(server.startUpMs);
    await server.stop();
  }
  return median(times);
}

async function measureRows(
  { start, startRivals }: { start: Start; startRivals: () => Promise<Rival[]> },
  filled: Filled,
  tool: LoadTool,
  options: Options,
  tell: Tell,
): Promise<MeasuredRow[]> {
  const portico = await start();
  try {
    const limit = await LimitServer.start();
    const rivals = await startRivals();
    try {
      tell("walking to page 2,500");
      const deepPath = await findDeepPage(portico.url, filled.key);
      const client = await makeClient(portico.url, filled.key);
      const reads = readRows(filled, deepPath, await accessToken(portico.url, client));
      const duel = new Duel({ portico, limit, rivals }, tool, options, tell);
      // Tokens and creates come last: what they leave behind must not slow the reads of the rounds that follow.
      const rows = await duel.fight("reads", reads);
      const tokens = await measureTokens(portico, client, tool, options, tell);
      return [...rows, ...tokens, ...(await duel.fight("creates", [createRow(filled)]))];
    } finally {
      await Promise.all(rivals.map((rival) => rival.stop()));
      await limit.stop();
    }
  } finally {
    await portico.stop();
  }
}

async function measureTokens(
  portico: PorticoServer,
  client: Client,
  tool: LoadTool,
  options: Options,
  tell: Tell,
): Promise<MeasuredRow[]> {
  const limit = await BareAuthority.start(client);
  try {
    const duel = new Duel({ portico, limit, rivals: [] }, tool, options, tell);
    return await duel.fight("tokens", [tokenRow(client)]);
  } finally {
    await limit.stop();
  }
}

async function measureMemory(start: Start, filled: Filled, tool: LoadTool): Promise<Memory> {
  const server = await start();
  try {
    const atStartMegabytes = server.memoryMegabytes;
    const load = mixedLoad(filled);
    const until = performance.now() + mostMinutesForMemory * 60_000;
    const after: { requests: number; megabytes: number | undefined }[] = [];
    let requests = 0;
    for (const wanted of requestsForMemory) {
      while (requests < wanted && performance.now() < until) {
        requests += (await tool.drive(server.url, load, 5)).requests;
      }
      after.push({ requests, megabytes: server.memoryMegabytes });
    }
    return { atStartMegabytes, after };
  } finally {
    await server.stop();
  }
}
