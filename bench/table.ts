// Formats a measurement as a text table.

import type { MeasuredOpponent, MeasuredRow } from "./comparison.ts";
import type { Measured } from "./measure.ts";
import type { Memory } from "./memory.ts";

/** The promised limits for every database; memory is measured after a million requests. */
export const startUpFloorMs = 1_000;
export const memoryFloorMegabytes = 150;
/** For 100,000 posts with 300,000 comments. */
export const databaseFloorMegabytes = 280;

const titles = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;
const nameWidth = 32;

export function table({ database, rows, startUpMs, databaseBytes, memory }: Measured): string {
  return [
    line(titles[database], "requests/s", "p99 ms", "limit/s", "of limit", "floor"),
    ...rows.flatMap(rowLines),
    "",
    lineWithFloor("start-up to the first 200", `${whole(startUpMs)} ms`, `${whole(startUpFloorMs)} ms`),
    lineWithFloor("database", megabytes(databaseBytes / 1e6), `${databaseFloorMegabytes} MB`),
    ...memoryLines(memory),
  ].join("\n");
}

function memoryLines({ atStartMegabytes, after }: Memory): string[] {
  return [
    line("memory at start", megabytes(atStartMegabytes)),
    ...after.map((each) =>
      lineWithFloor(
        `  after ${whole(each.requests)} requests`,
        megabytes(each.megabytes),
        `${memoryFloorMegabytes} MB`,
      ),
    ),
  ];
}

function rowLines(row: MeasuredRow): string[] {
  const {
    name,
    requestsPerSecond,
    p99Ms,
    limitRequestsPerSecond,
    ofLimitPercent,
    floorPercent,
    opponents,
    ofRow,
  } = row;
  return [
    line(
      name,
      whole(requestsPerSecond),
      p99Ms.toFixed(1),
      whole(limitRequestsPerSecond),
      percent(ofLimitPercent),
      floorPercent === undefined ? "" : `${floorPercent} %`,
    ),
    ...(opponents ?? []).map(opponentLine),
    ...(ofRow
      ? [line(`  of ${ofRow.name}`, "", "", "", percent(ofRow.percent), `${ofRow.floorPercent} %`)]
      : []),
  ];
}

/** A limit with Portico's share of it; another server with how many times as fast Portico is. */
function opponentLine({ name, requestsPerSecond, times, isLimit, floorPercent }: MeasuredOpponent): string {
  const share = isLimit ? percent(100 * times) : `1 : ${times.toFixed(1)}`;
  const floor = floorPercent === undefined ? "" : `${floorPercent} %`;
  return line(`  ${isLimit ? "of " : ""}${name}`, whole(requestsPerSecond), "", "", share, floor);
}

function lineWithFloor(name: string, value: string, floor: string): string {
  return line(name, value, "", "", "", floor);
}

function line(name: string, ...cells: readonly string[]): string {
  return (name.padEnd(nameWidth) + cells.map((cell) => cell.padStart(12)).join("")).trimEnd();
}

function whole(number: number): string {
  return Math.round(number).toLocaleString("en");
}

function percent(number: number): string {
  return `${number.toFixed(1)} %`;
}

function megabytes(number: number | undefined): string {
  return number === undefined ? "unknown" : `${whole(number)} MB`;
}
