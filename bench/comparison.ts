// Portico and other servers on the same requests, in turn.

import type { Answer, LimitServer } from "./limit.ts";
import type { Driven, Load, LoadTool } from "./load.ts";
import { median } from "./median.ts";
import type { BareAuthority } from "./oauth.ts";
import type { Options } from "./options.ts";
import type { PorticoServer } from "./portico-server.ts";
import type { Rival } from "./rival.ts";
import type { Row } from "./rows.ts";

export type Tell = (line: string) => void;

const warmUpSeconds = 1;

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

export class Duel {
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
