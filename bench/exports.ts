// Measures exports of all posts: their speed beside that of the database alone, what they add to the memory of the server,
// and what they leave to other requests.

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { runChild } from "./child.ts";
import type { Filled } from "./fill.ts";
import { keyHeader, type Load, type LoadTool } from "./load.ts";
import { median } from "./median.ts";
import { environmentFor, type PorticoServer, projectFolder } from "./portico-server.ts";

export interface MeasuredExport {
  readonly name: string;
  readonly megabytesPerSecond: number;
  /** CPU time of the server, in milliseconds for each megabyte. */
  readonly processorMsPerMegabyte: number | undefined;
}

export interface MeasuredExports {
  readonly formats: readonly MeasuredExport[];
  /** How fast the database alone gives the texts of the first format. */
  readonly databaseMegabytesPerSecond: number;
  /** Resident memory at its most, beside that before the first export. */
  readonly addedMegabytes: number | undefined;
  /** The rate of pages of 20 while an export runs, in percent of that without. */
  readonly pageRatePercent: number;
}

const rounds = 3;
const memoryIntervalMs = 20;
const timeoutMs = 5 * 60_000;
const program = join(import.meta.dirname, "database-export.ts");

const formats = [
  { name: "export, NDJSON", path: "/v1/exports/posts", headers: {} },
  { name: "export, CSV", path: "/v1/exports/posts?format=csv", headers: {} },
  { name: "export, gzip", path: "/v1/exports/posts", headers: { "Accept-Encoding": "gzip" } },
  { name: "export, zstd", path: "/v1/exports/posts", headers: { "Accept-Encoding": "zstd" } },
] as const;
type Format = (typeof formats)[number];

export async function measureExports(
  start: () => Promise<PorticoServer>,
  databaseUrl: string,
  filled: Filled,
  tool: LoadTool,
  seconds: number,
): Promise<MeasuredExports> {
  const server = await start();
  try {
    const atStart = server.memoryMegabytes;
    let most = atStart;
    const watch = setInterval(() => {
      const now = server.memoryMegabytes;
      if (now !== undefined && most !== undefined) most = Math.max(most, now);
    }, memoryIntervalMs);
    const measured: MeasuredExport[] = [];
    const plainBytes = await exportPosts(server, filled, formats[0]);
    for (const format of formats) measured.push(await measureFormat(server, filled, format, plainBytes));
    clearInterval(watch);
    const pageRatePercent = await pageRate(server, filled, tool, seconds);
    return {
      formats: measured,
      databaseMegabytesPerSecond: await databaseSpeed(databaseUrl, filled),
      addedMegabytes: most === undefined || atStart === undefined ? undefined : most - atStart,
      pageRatePercent,
    };
  } finally {
    await server.stop();
  }
}

/** @param plainBytes the size of the rows as JSON: all formats are compared by it */
async function measureFormat(
  server: PorticoServer,
  filled: Filled,
  format: Format,
  plainBytes: number,
): Promise<MeasuredExport> {
  const megabytes = plainBytes / 1e6;
  const speeds: number[] = [];
  const processorBefore = server.processorSeconds;
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    await exportPosts(server, filled, format);
    speeds.push(megabytes / ((performance.now() - started) / 1000));
  }
  const processorAfter = server.processorSeconds;
  const processorMsPerMegabyte =
    processorBefore === undefined || processorAfter === undefined
      ? undefined
      : (1000 * (processorAfter - processorBefore)) / (rounds * megabytes);
  return { name: format.name, megabytesPerSecond: median(speeds), processorMsPerMegabyte };
}

/** @returns the bytes received @throws Error if the export is refused or cut off */
async function exportPosts(
  { url }: PorticoServer,
  { key }: Filled,
  { path, headers }: Pick<Format, "path" | "headers">,
  signal?: AbortSignal,
): Promise<number> {
  const sent = request(url + path, {
    headers: { ...keyHeader(key), ...headers },
    agent: false,
    signal,
  }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the export answered ${response.statusCode}`);
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  return bytes;
}

async function pageRate(
  server: PorticoServer,
  filled: Filled,
  tool: LoadTool,
  seconds: number,
): Promise<number> {
  const headers = keyHeader(filled.key);
  const load: Load = { status: 200, method: "GET", paths: ["/posts?limit=20"], headers, body: "" };
  const alone = await tool.run(server.url, load, seconds);
  const end = new AbortController();
  const exporting = (async () => {
    while (!end.signal.aborted) await exportPosts(server, filled, formats[0], end.signal);
  })().catch((error: unknown) => {
    if (!end.signal.aborted) throw error;
  });
  const meanwhile = await tool.run(server.url, load, seconds);
  end.abort();
  await exporting;
  return (100 * meanwhile.requestsPerSecond) / alone.requestsPerSecond;
}

async function databaseSpeed(databaseUrl: string, { tenantId }: Filled): Promise<number> {
  const output = await runChild(process.execPath, [program, tenantId], {
    cwd: projectFolder,
    env: environmentFor(databaseUrl),
    timeoutMs,
  });
  return JSON.parse(output);
}
