// portico export

import { pipeline } from "node:stream/promises";
import { findTenant } from "../../auth/tenants/tenant.ts";
import { OperatorError } from "../../errors.ts";
import { EventExports } from "../../exports/event-exports.ts";
import { ExportCollections } from "../../exports/export-collections.ts";
import type { ExportSource } from "../../exports/export-source.ts";
import { formats } from "../../exports/operation.ts";
import { RowExports } from "../../exports/row-exports.ts";
import { csvHeader } from "../../lib/csv.ts";
import { parseQuery } from "../../query/query-string.ts";
import { type Assembly, assemble, withStore } from "../../runtime/compose.ts";
import type { RowStream } from "../../store/row-stream.ts";
import type { Arguments, Command } from "../command.ts";
import { eventLogOf } from "../event-log.ts";
import { callerNamed } from "../explained-access.ts";
import { TenantContext, tenantOption } from "../tenant-work.ts";

const exportCommand: Command = {
  name: "export",
  summary: "Write all rows of a collection, or the events, to standard output.",
  positionals: ["COLLECTION"],
  options: {
    tenant: tenantOption,
    user: {
      value: "WHO",
      help: "only what this user sees: an id or an address (default: the server itself, which sees all)",
    },
    format: { value: "FORMAT", help: "ndjson or csv (default: ndjson)" },
    query: { value: "QUERY", help: "parameters as in a request: 'status=open&fields=id,title'" },
    json: { help: "print the summary on standard error as one JSON object" },
  },
  run: exportLines,
};

async function exportLines(args: Arguments): Promise<undefined> {
  const format = formats.find((each) => each === (args.text("format") ?? "ndjson"));
  if (!format) throw new OperatorError(`--format is '${args.text("format")}'; it must be ndjson or csv`);
  const [collection = ""] = args.positionals;
  const query = parseQuery(`?${args.text("query") ?? ""}`);
  const assembly = await assemble(args.project);
  const { model, settings } = assembly;
  await withStore(assembly, async (store) => {
    const tenant = await findTenant(store, args.text("tenant"));
    const context = new TenantContext(store, assembly, tenant.id);
    const who = args.text("user");
    const caller =
      who === undefined ? context.caller : await callerNamed(store, model, settings, tenant.id, who);
    const source = collectionsOf(context, assembly).source(collection, query, format);
    const rows = await source.open(caller, new AbortController().signal);
    try {
      const count = await write(source, rows);
      report(args, { tenant: tenant.id, user: caller.userId, rows: count });
    } finally {
      rows.close();
    }
  });
  return undefined;
}

function collectionsOf(context: TenantContext, { app }: Assembly): ExportCollections {
  const { log, resources } = eventLogOf(context);
  return new ExportCollections(new RowExports(context.engine, app), new EventExports(log, resources));
}

/** @returns the number of rows @throws OperatorError if standard output can no longer be written to */
async function write(source: ExportSource, rows: RowStream): Promise<number> {
  // In a terminal the rows themselves would be between the lines.
  const showsProgress = process.stderr.isTTY && !process.stdout.isTTY;
  const total = rows.total === undefined ? "" : ` of ${rows.total}`;
  let count = 0;
  const lines = async function* (): AsyncGenerator<string, void> {
    if (source.csv) yield csvHeader(source.csv);
    for (let chunk = await rows.next(); chunk; chunk = await rows.next()) {
      yield chunk.lines;
      count += chunk.count;
      if (showsProgress) process.stderr.write(`\r${count}${total} rows`);
    }
  };
  try {
    await pipeline(lines, process.stdout, { end: false });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== "write") throw error;
    const reason = code === "EPIPE" ? "was closed" : `cannot be written to (${code})`;
    throw new OperatorError(`standard output ${reason} after ${count} rows`);
  }
  if (showsProgress) process.stderr.write("\n");
  return count;
}

interface ExportReport {
  readonly tenant: string;
  readonly user: string | null;
  readonly rows: number;
}

/** Standard output has the rows. */
function report(args: Arguments, exported: ExportReport): void {
  const { tenant, user, rows } = exported;
  const as = user === null ? "by the server itself" : `as ${user}`;
  const text = args.isSet("json") ? JSON.stringify(exported) : `${rows} rows of ${tenant} exported, ${as}`;
  process.stderr.write(`${text}\n`);
}

export const commands: readonly Command[] = [exportCommand];
