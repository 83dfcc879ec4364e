// Formats a measurement as a text table.

import type { MeasuredRow } from "./comparison.ts";
import type { Measured } from "./measure.ts";

/** The promised limits for every database; memory is measured after a million requests. */
export const startUpFloorMs = 1_000;
export const memoryFloorMegabytes = 150;

const titles = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;
const nameWidth = 32;

export function table({ database, rows, startUpMs, memory }: Measured): string {
  return [
    line(titles[database], "requests/s", "p99 ms", "limit/s", "of limit", "floor"),
    ...rows.flatMap(rowLines),
    "",
    line("start-up to the first 200", `${whole(startUpMs)} ms`, "", "", "", `${whole(startUpFloorMs)} ms`),
    line("memory at start", megabytes(memory.atStartMegabytes)),
    ...memory.after.map((each) =>
      line(
        `  after ${whole(each.requests)} requests`,
        megabytes(each.megabytes),
        ...["", "", "", `${memoryFloorMegabytes} MB`],
      ),
    ),
  ].join("\n");
}

function rowLines(row: MeasuredRow): string[] {
  const {
    name,
    requestsPerSecond,
    p99Ms,
    limitRequestsPerSecond,
    ofLimitPercent,
    floorPercent,
    rivals,
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
    ...(rivals ?? []).map((rival) =>
      line(`  ${rival.name}`, whole(rival.requestsPerSecond), "", "", `1 : ${rival.times.toFixed(1)}`),
    ),
    ...(ofRow
      ? [line(`  of ${ofRow.name}`, "", "", "", percent(ofRow.percent), `${ofRow.floorPercent} %`)]
      : []),
  ];
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
