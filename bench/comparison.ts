// Measures Portico and other servers with the same requests, in turn.

import type { LimitServer, RecordedResponse } from "./limit.ts";
import type { Load, LoadResult, LoadTool } from "./load.ts";
import { median } from "./median.ts";
import type { BareOidcServer } from "./oauth.ts";
import type { Opponent } from "./opponent.ts";
import type { Options } from "./options.ts";
import type { PorticoServer } from "./portico-server.ts";
import type { Row } from "./rows.ts";

export type Report = (line: string) => void;

const warmUpSeconds = 1;

/** Medians of all rounds. */
export interface MeasuredRow {
  readonly name: string;
  readonly answerBytes: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  readonly limitRequestsPerSecond: number;
  readonly limitP99Ms: number;
  /** Portico's throughput as a share of the limit's: the median of the ratios of all rounds. */
  readonly ofLimitPercent: number;
  readonly floorPercent?: number;
  /** Others with the same requests; `times`: Portico's throughput divided by theirs. */
  readonly opponents?: readonly MeasuredOpponent[];
  readonly ofRow?: { readonly name: string; readonly percent: number; readonly floorPercent: number };
}

export interface MeasuredOpponent {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly times: number;
  readonly isLimit: boolean;
  readonly floorPercent?: number;
}

/** The results of one row in one round. */
interface Round {
  readonly portico: LoadResult;
  readonly limit: LoadResult;
  /** Of those that are measured on the row, in their order. */
  readonly opponents: readonly LoadResult[];
}

interface Servers {
  readonly portico: PorticoServer;
  readonly limit: LimitServer | BareOidcServer;
  readonly opponents: readonly Opponent[];
}

export class Comparison {
  readonly #servers: Servers;
  readonly #tool: LoadTool;
  readonly #options: Options;
  readonly #report: Report;

  constructor(servers: Servers, tool: LoadTool, options: Options, report: Report) {
    this.#servers = servers;
    this.#tool = tool;
    this.#options = options;
    this.#report = report;
  }

  /** Measures all rows in each round, so that a slow minute of the machine affects all rows and servers alike. */
  async compare(title: string, rows: readonly Row[]): Promise<MeasuredRow[]> {
    const { rounds, seconds } = this.#options;
    const { portico, limit, opponents } = this.#servers;
    const responses = await Promise.all(rows.map(({ load }) => firstResponse(portico.url, load)));
    for (const [index, row] of rows.entries())
      for (const opponent of opponents)
        if (opponent.isMeasuredOn(row)) await opponent.requireSameResponse(row, responses[index]!.body);
    const results = rows.map((): Round[] => []);
    for (let round = 0; round <= rounds; round += 1) {
      const isWarmUp = round === 0;
      this.#report(`${title}: ${isWarmUp ? "warming up" : `round ${round} of ${rounds}`}`);
      for (const [index, row] of rows.entries()) {
        await limit.respondWith(responses[index]!);
        const result = await this.#runRound(row, isWarmUp ? warmUpSeconds : seconds, round % 2 === 0);
        if (!isWarmUp) results[index]!.push(result);
      }
    }
    // The tools do not distinguish errors: a 429 would count as the expected 401.
    for (const { load } of rows) await firstResponse(portico.url, load);
    return rows.map((row, index) => summary(row, responses[index]!, results, rows, index, opponents));
  }

  async #runRound(row: Row, seconds: number, isLimitFirst: boolean): Promise<Round> {
    const { portico, limit } = this.#servers;
    const run = ({ url }: { url: string }): Promise<LoadResult> => this.#tool.run(url, row.load, seconds);
    const opponents: LoadResult[] = [];
    for (const opponent of this.#servers.opponents)
      if (opponent.isMeasuredOn(row)) opponents.push(await opponent.run(this.#tool, row, seconds));
    if (isLimitFirst) {
      const limitResult = await run(limit);
      return { limit: limitResult, portico: await run(portico), opponents };
    }
    return { portico: await run(portico), limit: await run(limit), opponents };
  }
}

function summary(
  row: Row,
  { body }: RecordedResponse,
  results: readonly (readonly Round[])[],
  rows: readonly Row[],
  index: number,
  opponents: readonly Opponent[],
): MeasuredRow {
  const { name, floorPercent, floorOfRow } = row;
  const rounds = results[index]!;
  const rates = rounds.map(({ portico }) => portico.requestsPerSecond);
  const limitRates = rounds.map(({ limit }) => limit.requestsPerSecond);
  const otherRounds = results[rows.findIndex((row) => row.name === floorOfRow?.of)];
  return {
    name,
    answerBytes: Buffer.byteLength(body),
    requestsPerSecond: median(rates),
    p99Ms: median(rounds.map(({ portico }) => portico.p99Ms)),
    limitRequestsPerSecond: median(limitRates),
    limitP99Ms: median(rounds.map(({ limit }) => limit.p99Ms)),
    ofLimitPercent: percent(rates, limitRates),
    ...(floorPercent !== undefined && { floorPercent }),
    ...opponentsOf(
      rounds,
      opponents.filter((opponent) => opponent.isMeasuredOn(row)),
    ),
    ...(floorOfRow &&
      otherRounds && {
        ofRow: {
          name: floorOfRow.of,
          percent: percent(
            rates,
            otherRounds.map(({ portico }) => portico.requestsPerSecond),
          ),
          floorPercent: floorOfRow.percent,
        },
      }),
  };
}

function opponentsOf(
  rounds: readonly Round[],
  opponents: readonly Opponent[],
): Pick<MeasuredRow, "opponents"> {
  if (opponents.length === 0) return {};
  return {
    opponents: opponents.map(({ title, isLimit, floorPercent }, index) => {
      const rates = rounds.map((round) => round.opponents[index]!.requestsPerSecond);
      return {
        name: title,
        requestsPerSecond: median(rates),
        times: median(rounds.map(({ portico }, round) => portico.requestsPerSecond / rates[round]!)),
        isLimit,
        ...(floorPercent !== undefined && { floorPercent }),
      };
    }),
  };
}

function percent(parts: readonly number[], wholes: readonly number[]): number {
  return median(parts.map((part, index) => (100 * part) / wholes[index]!));
}

/** Portico's response to the first request of a load. */
async function firstResponse(
  url: string,
  { status, method, paths, headers, body }: Load,
): Promise<RecordedResponse> {
  const response = await fetch(url + paths[0], {
    method,
    headers,
    signal: AbortSignal.timeout(10_000),
    ...(body !== "" && { body }),
  });
  const text = await response.text();
  if (response.status !== status)
    throw new Error(`${method} ${paths[0]} was answered with ${response.status}: ${text}`);
  return { status: response.status, contentType: response.headers.get("content-type") ?? "", body: text };
}
