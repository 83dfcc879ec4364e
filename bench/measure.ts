// Measures Portico on one database, which it fills first and removes afterwards.

import { join } from "node:path";
import { runChild } from "./child.ts";
import { Comparison, type MeasuredRow, type Report } from "./comparison.ts";
import { type MeasuredExports, measureExports } from "./exports.ts";
import type { Filled } from "./fill.ts";
import type { FilledTenants } from "./fill-tenants.ts";
import { type MeasuredImports, measureImports } from "./imports.ts";
import { LimitServer } from "./limit.ts";
import { keyHeader, type LoadTool } from "./load.ts";
import { loadTool } from "./load-tool.ts";
import { median } from "./median.ts";
import type { FilledMemberships } from "./memberships/fill.ts";
import { type Memory, measureMemory } from "./memory.ts";
import { accessToken, BareOidcServer, type Client, createClient } from "./oauth.ts";
import type { Opponent } from "./opponent.ts";
import type { DatabaseName, Options } from "./options.ts";
import { Pgbench } from "./pgbench.ts";
import { environmentFor, PorticoServer, projectFolder } from "./portico-server.ts";
import { Rival } from "./rival.ts";
import { rivalKinds } from "./rival-kinds.ts";
import {
  createRow,
  findDeepPage,
  mixedParts,
  policyRows,
  type Row,
  readRows,
  tenantRows,
  tokenRow,
} from "./rows.ts";
import { type MeasuredWebhooks, measureWebhooks } from "./webhooks.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

export interface Measured {
  readonly database: DatabaseName;
  readonly tool: string;
  readonly rows: readonly MeasuredRow[];
  readonly webhooks: MeasuredWebhooks;
  readonly startUpMs: number;
  /** The size of the database once it is filled, with indexes. */
  readonly databaseBytes: number;
  readonly exports: MeasuredExports;
  readonly imports: MeasuredImports;
  readonly memory: Memory;
}

const program = join(import.meta.dirname, "fill.ts");
const membershipsFolder = join(import.meta.dirname, "memberships");
const fillTimeoutMs = 30 * 60_000;
const starts = 5;
const requestsForMemory = [200_000, 1_000_000];

export async function measure(database: DatabaseName, options: Options, report: Report): Promise<Measured> {
  const workspace = await createWorkspace(database);
  try {
    const tool = loadTool(options, workspace.folder);
    report(`${database}: filling`);
    const filled: Filled = await fill(program, [String(options.posts)], workspace.databaseUrl);
    const databaseBytes = await workspace.databaseBytes();
    const start = (): Promise<PorticoServer> =>
      PorticoServer.start(workspace.databaseUrl, `/posts/${filled.ids[0]}`, keyHeader(filled.key));
    report(`${database}: starting ${starts} times`);
    const startUpMs = await startUpTime(start);
    const startOpponents = (): Promise<Opponent[]> =>
      opponentsOn(database, workspace, filled, options, (line) => report(`${database}: ${line}`));
    const reportRows = (line: string): void => report(`${database}: ${line}`);
    const rows = [
      ...(await measureRows({ start, startOpponents }, filled, tool, options, reportRows)),
      ...(await measureOther(policies, database, tool, options, reportRows)),
      ...(await measureOther(tenantsWith(options.posts), database, tool, options, reportRows)),
    ];
    const webhooks = await measureWebhooks(database, tool, options, reportRows);
    report(`${database}: exports`);
    const exports = await measureExports(start, workspace.databaseUrl, filled, tool, options.seconds);
    const imports = await measureImports(database, options, reportRows);
    report(`${database}: memory after ${requestsForMemory.join(" and ")} requests`);
    const mixed = { requests: requestsForMemory, parts: mixedParts(filled), maxMinutes: 15, seconds: 2 };
    const memory = await measureMemory(start, mixed, tool);
    return { database, tool: tool.name, rows, webhooks, startUpMs, databaseBytes, exports, imports, memory };
  } finally {
    await workspace.remove();
  }
}

/** Servers that a service would be without Portico, and with `hasRivals` those that can be used instead of it. */
async function opponentsOn(
  database: DatabaseName,
  workspace: Workspace,
  filled: Filled,
  { hasRivals }: Options,
  report: Report,
): Promise<Opponent[]> {
  const kinds = rivalKinds[database].filter(({ floorPercent }) => hasRivals || floorPercent !== undefined);
  const rivals: Promise<Opponent>[] = kinds.map((kind) => Rival.start(kind, workspace.databaseUrl, filled));
  if (database === "sqlite") return Promise.all(rivals);
  const pgbench = await Pgbench.prepare(workspace, filled.tenantId);
  if (!pgbench) report("pgbench is not installed, so nested queries are not compared with it");
  return Promise.all(pgbench ? [...rivals, pgbench] : rivals);
}

/** @returns what the program prints as JSON */
async function fill<Filled>(program: string, words: readonly string[], databaseUrl: string): Promise<Filled> {
  const output = await runChild(process.execPath, [program, ...words], {
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
  { start, startOpponents }: { start: Start; startOpponents: () => Promise<Opponent[]> },
  filled: Filled,
  tool: LoadTool,
  options: Options,
  report: Report,
): Promise<MeasuredRow[]> {
  const portico = await start();
  try {
    const limit = await LimitServer.start();
    const opponents = await startOpponents();
    try {
      report("walking to page 2,500");
      const deepPath = await findDeepPage(portico.url, filled.key);
      const client = await createClient(portico.url, filled.key);
      const reads = readRows(filled, deepPath, await accessToken(portico.url, client));
      const comparison = new Comparison({ portico, limit, opponents }, tool, options, report);
      // Tokens and creates come last, because the rows that they add must not slow down reads.
      const rows = await comparison.compare("reads", reads);
      const tokens = await measureTokens(portico, client, tool, options, report);
      return [...rows, ...tokens, ...(await comparison.compare("creates", [createRow(filled)]))];
    } finally {
      await Promise.all(opponents.map((opponent) => opponent.stop()));
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
    const comparison = new Comparison({ portico, limit, opponents: [] }, tool, options, report);
    return await comparison.compare("tokens", [tokenRow(client)]);
  } finally {
    await limit.stop();
  }
}

/** Rows of a server on another database. */
interface OtherServer<Filled> {
  readonly title: string;
  /** The program that fills the database, and its arguments. */
  readonly program: string;
  readonly words: readonly string[];
  /** Of the project. */
  readonly folder: string;
  readonly rowsOf: (filled: Filled) => readonly Row[];
}

/** Pages of another project, whose policy looks at related rows. */
const policies: OtherServer<FilledMemberships> = {
  title: "policies",
  program: join(membershipsFolder, "fill.ts"),
  words: [],
  folder: membershipsFolder,
  rowsOf: policyRows,
};

/** Searches of one tenant among a hundred that have as many posts. */
function tenantsWith(posts: number): OtherServer<FilledTenants> {
  return {
    title: "one tenant of 100",
    program: join(import.meta.dirname, "fill-tenants.ts"),
    words: [String(posts)],
    folder: projectFolder,
    rowsOf: tenantRows,
  };
}

async function measureOther<Filled>(
  { title, program, words, folder, rowsOf }: OtherServer<Filled>,
  database: DatabaseName,
  tool: LoadTool,
  options: Options,
  report: Report,
): Promise<MeasuredRow[]> {
  const workspace = await createWorkspace(database);
  try {
    report(`${title}: filling`);
    const { databaseUrl } = workspace;
    const rows = rowsOf(await fill<Filled>(program, words, databaseUrl));
    const { paths, headers } = rows[0]!.load;
    const portico = await PorticoServer.start(databaseUrl, paths[0]!, headers, {}, folder);
    try {
      const limit = await LimitServer.start();
      try {
        const comparison = new Comparison({ portico, limit, opponents: [] }, tool, options, report);
        return await comparison.compare(title, rows);
      } finally {
        await limit.stop();
      }
    } finally {
      await portico.stop();
    }
  } finally {
    await workspace.remove();
  }
}
