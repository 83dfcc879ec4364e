// Measures Portico on one database, which it fills first and removes afterwards.

import { join } from "node:path";
import { runChild } from "./child.ts";
import { Comparison, type MeasuredRow, type Report } from "./comparison.ts";
import type { Filled } from "./fill.ts";
import { LimitServer } from "./limit.ts";
import { keyHeader, type LoadTool } from "./load.ts";
import { loadTool } from "./load-tool.ts";
import { median } from "./median.ts";
import { accessToken, BareOidcServer, type Client, createClient } from "./oauth.ts";
import type { DatabaseName, Options } from "./options.ts";
import { environmentFor, PorticoServer, projectFolder } from "./portico-server.ts";
import { Rival } from "./rival.ts";
import { rivalKinds } from "./rival-kinds.ts";
import { createRow, findDeepPage, mixedLoad, readRows, tokenRow } from "./rows.ts";
import { createWorkspace } from "./workspace.ts";

export interface Measured {
  readonly database: DatabaseName;
  readonly tool: string;
  readonly rows: readonly MeasuredRow[];
  readonly startUpMs: number;
  readonly memory: Memory;
}

/** Resident memory of a new process; undefined if the system does not report it. */
export interface Memory {
  readonly atStartMegabytes: number | undefined;
  /** After increasing numbers of requests. */
  readonly after: readonly { readonly requests: number; readonly megabytes: number | undefined }[];
}

const program = join(import.meta.dirname, "fill.ts");
const fillTimeoutMs = 30 * 60_000;
const starts = 5;
/** The second measurement shows whether memory grows. */
const requestsForMemory = [200_000, 1_000_000];
const maxMinutesForMemory = 5;

export async function measure(database: DatabaseName, options: Options, report: Report): Promise<Measured> {
  const workspace = await createWorkspace(database);
  try {
    const tool = loadTool(options, workspace.folder);
    report(`${database}: filling`);
    const filled = await fill(workspace.databaseUrl, options.posts);
    const start = (): Promise<PorticoServer> =>
      PorticoServer.start(workspace.databaseUrl, `/posts/${filled.ids[0]}`, keyHeader(filled.key));
    report(`${database}: starting ${starts} times`);
    const startUpMs = await startUpTime(start);
    const startRivals = (): Promise<Rival[]> =>
      Promise.all(
        (options.hasRivals ? rivalKinds[database] : []).map((kind) =>
          Rival.start(kind, workspace.databaseUrl, filled.tenantId),
        ),
      );
    const rows = await measureRows({ start, startRivals }, filled, tool, options, (line) =>
      report(`${database}: ${line}`),
    );
    report(`${database}: memory after ${requestsForMemory.join(" and ")} requests`);
    const memory = await measureMemory(start, filled, tool);
    return { database, tool: tool.name, rows, startUpMs, memory };
  } finally {
    await workspace.remove();
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
  report: Report,
): Promise<MeasuredRow[]> {
  const portico = await start();
  try {
    const limit = await LimitServer.start();
    const rivals = await startRivals();
    try {
      report("walking to page 2,500");
      const deepPath = await findDeepPage(portico.url, filled.key);
      const client = await createClient(portico.url, filled.key);
      const reads = readRows(filled, deepPath, await accessToken(portico.url, client));
      const comparison = new Comparison({ portico, limit, rivals }, tool, options, report);
      // Tokens and creates come last, because the rows that they add must not slow down reads.
      const rows = await comparison.compare("reads", reads);
      const tokens = await measureTokens(portico, client, tool, options, report);
      return [...rows, ...tokens, ...(await comparison.compare("creates", [createRow(filled)]))];
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
  report: Report,
): Promise<MeasuredRow[]> {
  const limit = await BareOidcServer.start(client);
  try {
    const comparison = new Comparison({ portico, limit, rivals: [] }, tool, options, report);
    return await comparison.compare("tokens", [tokenRow(client)]);
  } finally {
    await limit.stop();
  }
}

async function measureMemory(start: Start, filled: Filled, tool: LoadTool): Promise<Memory> {
  const server = await start();
  try {
    const atStartMegabytes = server.memoryMegabytes;
    const load = mixedLoad(filled);
    const until = performance.now() + maxMinutesForMemory * 60_000;
    const after: { requests: number; megabytes: number | undefined }[] = [];
    let requests = 0;
    for (const count of requestsForMemory) {
      while (requests < count && performance.now() < until) {
        requests += (await tool.run(server.url, load, 5)).requests;
      }
      after.push({ requests, megabytes: server.memoryMegabytes });
    }
    return { atStartMegabytes, after };
  } finally {
    await server.stop();
  }
}
