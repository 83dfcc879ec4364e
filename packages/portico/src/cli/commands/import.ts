// portico import

import { findTenant } from "../../auth/tenants/tenant.ts";
import { OperatorError } from "../../errors.ts";
import { CsvParser } from "../../imports/csv.ts";
import { ImportRun } from "../../imports/import-run.ts";
import { importableResources } from "../../imports/importable-resources.ts";
import { NdjsonParser } from "../../imports/ndjson.ts";
import { parseImport } from "../../imports/parse-request.ts";
import { RowImport } from "../../imports/row-import.ts";
import { assemble, withStore } from "../../runtime/compose.ts";
import type { Arguments, Command, CommandOutput } from "../command.ts";
import { TenantContext, tenantOption } from "../tenant-work.ts";

const importCommand: Command = {
  name: "import",
  summary: "Create a row for each line of standard input, on behalf of the server itself.",
  positionals: ["COLLECTION"],
  options: {
    tenant: tenantOption,
    format: { value: "FORMAT", help: "ndjson or csv (default: ndjson)" },
    by: { value: "FIELD", help: "update the row with the same value of this unique field, if there is one" },
    atomic: { help: "write all lines or none" },
    "dry-run": { help: "check all lines and write nothing" },
    "ignore-read-only": { help: "ignore fields that callers cannot set, such as id" },
  },
  run: importLines,
};

async function importLines(args: Arguments): Promise<CommandOutput> {
  const format = args.text("format") ?? "ndjson";
  if (format !== "ndjson" && format !== "csv")
    throw new OperatorError(`--format is '${format}'; it must be ndjson or csv`);
  const [collection = ""] = args.positionals;
  const assembly = await assemble(args.project);
  const resource = importableResources(assembly.model, assembly.app).get(collection);
  if (!resource) throw new OperatorError(`there is no collection '${collection}' to import into`);
  const request = parseImport(resource, queryOf(args));
  return withStore(assembly, async (store) => {
    const tenant = await findTenant(store, args.text("tenant"));
    const { engine, caller } = new TenantContext(store, assembly, tenant.id);
    const report = (message: string): void => void process.stderr.write(`${message}\n`);
    const chunks: AsyncIterator<Buffer> = process.stdin[Symbol.asyncIterator]();
    const run = new ImportRun({
      source: { next: async () => (await chunks.next()).value },
      parser: format === "csv" ? new CsvParser(resource) : new NdjsonParser(),
      rows: new RowImport(request, { engine, report }),
      isAtomic: request.isAtomic,
      currentCaller: async () => caller,
    });
    const showsProgress = process.stderr.isTTY;
    for await (const { lines } of run.run()) if (showsProgress) process.stderr.write(`\r${lines} lines`);
    if (showsProgress) process.stderr.write("\n");
    return outputOf(run, tenant.id);
  });
}

function queryOf(args: Arguments): ReadonlyMap<string, readonly string[]> {
  const by = args.text("by");
  const flags = { atomic: args.isSet("atomic"), dryRun: args.isSet("dry-run") };
  return new Map([
    ...Object.entries(flags).map(([name, isSet]) => [name, [String(isSet)]] as const),
    ["readOnly", [args.isSet("ignore-read-only") ? "ignore" : "refuse"]],
    ...(by === undefined
      ? []
      : ([
          ["mode", ["upsert"]],
          ["by", [by]],
        ] as const)),
  ]);
}

/** @throws OperatorError if the import ended early, or no line was imported */
function outputOf({ outcome }: ImportRun, tenantId: string): CommandOutput {
  const json = JSON.parse(outcome.toText());
  const { created, updated, failed, errors } = json;
  const lines = [
    `${created} created, ${updated} updated, ${failed} failed in ${tenantId}, by the server itself`,
    ...errors.map(
      ({ line, error }: { readonly line: number; readonly error: { readonly message: string } }) =>
        `line ${line}: ${error.message}`,
    ),
  ];
  if (outcome.status === 200) return { json: { ...json, tenant: tenantId }, lines };
  throw new OperatorError([json.error.message, ...lines].join("\n"));
}

export const commands: readonly Command[] = [importCommand];
