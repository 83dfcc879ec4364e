// Formats a measurement as a text table.

import type { MeasuredOpponent, MeasuredRow } from "./comparison.ts";
import type { MeasuredExports } from "./exports.ts";
import type { MeasuredImports } from "./imports.ts";
import type { Measured } from "./measure.ts";
import { type Memory, restSeconds } from "./memory.ts";
import type { MeasuredWebhooks } from "./webhooks.ts";

/** The promised limits for every database; memory is measured after a million requests. */
export const startUpFloorMs = 1_000;
export const memoryFloorMegabytes = 150;
/** For 100,000 posts with 300,000 comments. */
export const databaseFloorMegabytes = 280;
/** Creates with three webhook endpoints, as a share of those without, and deliveries to one. */
export const webhookFloors = { ofCreatesPercent: 90, deliveriesPerSecond: 500 };
/** An export is as fast as this, or as this share of what the database alone gives, whichever is less. */
export const exportFloors = {
  megabytesPerSecond: 50,
  percentOfDatabase: 25,
  megabytes: 40,
  pageRatePercent: 70,
};

/** The rows of an import in a second, as a share of those that `node:sqlite` alone inserts. */
export const importFloorPercent = 50;

const titles = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;
const nameWidth = 32;

export function table({
  database,
  rows,
  webhooks,
  startUpMs,
  databaseBytes,
  exports,
  imports,
  memory,
}: Measured): string {
  return [
    line(titles[database], "requests/s", "p99 ms", "limit/s", "of limit", "floor"),
    ...rows.flatMap(rowLines),
    ...webhookLines(webhooks),
    "",
    lineWithFloor("start-up to the first 200", `${whole(startUpMs)} ms`, `${whole(startUpFloorMs)} ms`),
    lineWithFloor("database", megabytes(databaseBytes / 1e6), `${databaseFloorMegabytes} MB`),
    ...memoryLines(memory),
    "",
    ...exportLines(exports),
    ...importLines(imports),
  ].join("\n");
}

export function webhookLines({
  createsPerSecond,
  ofCreatesPercent,
  deliveriesPerSecond,
}: MeasuredWebhooks): string[] {
  return [
    line("create, 3 webhook endpoints", whole((createsPerSecond * ofCreatesPercent) / 100)),
    line(
      "  of creates without endpoints",
      "",
      "",
      "",
      percent(ofCreatesPercent),
      `${webhookFloors.ofCreatesPercent} %`,
    ),
    line(
      "webhook deliveries",
      whole(deliveriesPerSecond),
      "",
      "",
      "",
      whole(webhookFloors.deliveriesPerSecond),
    ),
  ];
}

function memoryLines({ atStartMegabytes, after, atRestMegabytes }: Memory): string[] {
  return [
    line("memory at start", megabytes(atStartMegabytes)),
    ...after.map((each) =>
      lineWithFloor(
        `  after ${whole(each.requests)} requests`,
        megabytes(each.megabytes),
        `${memoryFloorMegabytes} MB`,
      ),
    ),
    lineWithFloor(`  ${restSeconds} seconds later`, megabytes(atRestMegabytes), `${memoryFloorMegabytes} MB`),
  ];
}

function exportLines({
  formats,
  databaseMegabytesPerSecond: database,
  addedMegabytes,
  pageRatePercent,
}: MeasuredExports): string[] {
  const { megabytesPerSecond: speed, percentOfDatabase } = exportFloors;
  const floor = Math.min(speed, (database * percentOfDatabase) / 100);
  return [
    line("all posts in one response", "MB/s", "CPU ms/MB", "database", "of it", "floor"),
    ...formats.map(({ name, megabytesPerSecond, processorMsPerMegabyte = Number.NaN }) =>
      line(
        name,
        whole(megabytesPerSecond),
        processorMsPerMegabyte.toFixed(1),
        whole(database),
        percent((100 * megabytesPerSecond) / database),
        `${whole(floor)} MB/s`,
      ),
    ),
    lineWithFloor("  memory added", megabytes(addedMegabytes), `${exportFloors.megabytes} MB`),
    lineWithFloor("  page of 20 meanwhile", percent(pageRatePercent), `${exportFloors.pageRatePercent} %`),
  ];
}

export function importLines({ rowsPerSecond, databaseRowsPerSecond: database }: MeasuredImports): string[] {
  const rows = line("rows of an import, a second", whole(rowsPerSecond));
  if (database === undefined) return [rows];
  const share = percent((100 * rowsPerSecond) / database);
  return [rows, line("  of node:sqlite alone", whole(database), "", "", share, `${importFloorPercent} %`)];
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
