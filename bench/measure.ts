// Measures one database from filling it to removing it.

import { join } from "node:path";
import { accessToken, BareAuthority, type Client, makeClient } from "./authority.ts";
import { runChild } from "./child.ts";
import type { Filled } from "./fill.ts";
import { type Answer, LimitServer } from "./limit.ts";
import { type Driven, keyHeader, type Load, type LoadTool } from "./load.ts";
import { loadTool } from "./load-tool.ts";
import { median } from "./median.ts";
import type { DatabaseName, Options } from "./options.ts";
import { makePlace } from "./place.ts";
import { environmentFor, PorticoServer, projectFolder } from "./portico-server.ts";
import { Rival } from "./rival.ts";
import { rivalKinds } from "./rival-kinds.ts";
import { createRow, findDeepPage, mixedLoad, type Row, readRows, tokenRow } from "./rows.ts";

/** Medians of all rounds. */
export interface MeasuredRow {
  readonly name: string;
  readonly answerBytes: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  readonly limitRequestsPerSecond: number;
  readonly limitP99Ms: number;
  /** What Portico reaches of the limit: the median of the ratios that the rounds had. */
  readonly ofLimitPercent: number;
  readonly floorPercent?: number;
  /** Other servers on the same query, and how many times as many requests Portico answers. */
  readonly rivals?: readonly {
    readonly name: string;
    readonly requestsPerSecond: number;
    readonly times: number;
  }[];
  readonly ofRow?: { readonly name: string; readonly percent: number; readonly floorPercent: number };
}

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

export type Tell = (line: string) => void;

const program = join(import.meta.dirname, "fill.ts");
const fillTimeoutMs = 30 * 60_000;
const starts = 5;
const warmUpSeconds = 1;
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

/** The servers on the same row, in turn. */
interface Round {
  readonly portico: Driven;
  readonly limit: Driven;
  /** Of those that are asked, in the order of the servers. */
  readonly rivals: readonly Driven[];
}

interface Servers {
  readonly portico: PorticoServer;
  readonly limit: LimitServer | BareAuthority;
  readonly rivals: readonly Rival[];
}

class Duel {
  readonly #servers: Servers;
  readonly #tool: LoadTool;
  readonly #options: Options;
  readonly #tell: Tell;

  constructor(servers: Servers, tool: LoadTool, options: Options, tell: Tell) {
    this.#servers = servers;
    this.#tool = tool;
    this.#options = options;
    this.#tell = tell;
  }

  /** Rounds over all rows, so that a slow minute of the machine meets every row and both servers. */
  async fight(title: string, rows: readonly Row[]): Promise<MeasuredRow[]> {
    const { rounds, seconds } = this.#options;
    const { portico, limit, rivals } = this.#servers;
    const answers = await Promise.all(rows.map(({ load }) => answerOf(portico.url, load)));
    for (const [place, row] of rows.entries())
      for (const rival of rivals) if (rival.isAsked(row)) await rival.requireSame(row, answers[place]!.body);
    const results = rows.map((): Round[] => []);
    for (let round = 0; round <= rounds; round += 1) {
      const isWarmUp = round === 0;
      this.#tell(`${title}: ${isWarmUp ? "warming up" : `round ${round} of ${rounds}`}`);
      for (const [place, row] of rows.entries()) {
        await limit.answerWith(answers[place]!);
        const driven = await this.#drive(row, isWarmUp ? warmUpSeconds : seconds, round % 2 === 0);
        if (!isWarmUp) results[place]!.push(driven);
      }
    }
    // The tools cannot tell one error from another: a 429 would pass for the 401 that was there at first.
    for (const { load } of rows) await answerOf(portico.url, load);
    return rows.map((row, place) => summary(row, answers[place]!, results, rows, place, rivals));
  }

  async #drive(row: Row, seconds: number, isLimitFirst: boolean): Promise<Round> {
    const { portico, limit } = this.#servers;
    const drive = ({ url }: { url: string }, sent = row.load): Promise<Driven> =>
      this.#tool.drive(url, sent, seconds);
    const rivals: Driven[] = [];
    for (const rival of this.#servers.rivals)
      if (rival.isAsked(row)) rivals.push(await drive(rival, rival.loadFor(row)));
    if (isLimitFirst) {
      const limitDriven = await drive(limit);
      return { limit: limitDriven, portico: await drive(portico), rivals };
    }
    return { portico: await drive(portico), limit: await drive(limit), rivals };
  }
}

function summary(
  row: Row,
  { body }: Answer,
  results: readonly (readonly Round[])[],
  rows: readonly Row[],
  place: number,
  rivals: readonly Rival[],
): MeasuredRow {
  const { name, floorPercent, floorOfRow } = row;
  const rounds = results[place]!;
  const speeds = rounds.map(({ portico }) => portico.requestsPerSecond);
  const limits = rounds.map(({ limit }) => limit.requestsPerSecond);
  const others = results[rows.findIndex((row) => row.name === floorOfRow?.of)];
  return {
    name,
    answerBytes: Buffer.byteLength(body),
    requestsPerSecond: median(speeds),
    p99Ms: median(rounds.map(({ portico }) => portico.p99Ms)),
    limitRequestsPerSecond: median(limits),
    limitP99Ms: median(rounds.map(({ limit }) => limit.p99Ms)),
    ofLimitPercent: percent(speeds, limits),
    ...(floorPercent !== undefined && { floorPercent }),
    ...rivalsOf(
      rounds,
      rivals.filter((rival) => rival.isAsked(row)),
    ),
    ...(floorOfRow &&
      others && {
        ofRow: {
          name: floorOfRow.of,
          percent: percent(
            speeds,
            others.map(({ portico }) => portico.requestsPerSecond),
          ),
          floorPercent: floorOfRow.percent,
        },
      }),
  };
}

function rivalsOf(rounds: readonly Round[], rivals: readonly Rival[]): Pick<MeasuredRow, "rivals"> {
  if (rounds[0]!.rivals.length === 0) return {};
  return {
    rivals: rivals.map(({ title }, place) => ({
      name: title,
      requestsPerSecond: median(rounds.map((round) => round.rivals[place]!.requestsPerSecond)),
      times: median(
        rounds.map((round) => round.portico.requestsPerSecond / round.rivals[place]!.requestsPerSecond),
      ),
    })),
  };
}

function percent(parts: readonly number[], wholes: readonly number[]): number {
  return median(parts.map((part, place) => (100 * part) / wholes[place]!));
}

/** What Portico answers to the first request of a load. */
async function answerOf(url: string, { status, method, paths, headers, body }: Load): Promise<Answer> {
  const answer = await fetch(url + paths[0], {
    method,
    headers,
    signal: AbortSignal.timeout(10_000),
    ...(body !== "" && { body }),
  });
  const text = await answer.text();
  if (answer.status !== status)
    throw new Error(`${method} ${paths[0]} was answered with ${answer.status}: ${text}`);
  return { status: answer.status, contentType: answer.headers.get("content-type") ?? "", body: text };
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
