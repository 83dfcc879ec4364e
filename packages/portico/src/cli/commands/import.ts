// portico import

import { findTenant } from "../../auth/tenants/tenant.ts";
import type { Caller } from "../../declare/caller.ts";
import { requireScope } from "../../engine/authorize.ts";
import { OperatorError } from "../../errors.ts";
import { CsvParser } from "../../imports/csv.ts";
import { ImportRun } from "../../imports/import-run.ts";
import { importableResources } from "../../imports/importable-resources.ts";
import { NdjsonParser } from "../../imports/ndjson.ts";
import { parseImport } from "../../imports/parse-request.ts";
import { RowImport } from "../../imports/row-import.ts";
import { assemble, withStore } from "../../runtime/compose.ts";
import type { Arguments, Command, CommandOutput } from "../command.ts";
import { callerNamed } from "../explained-access.ts";
import { TenantContext, tenantOption } from "../tenant-work.ts";

const importCommand: Command = {
  name: "import",
  summary: "Create a row for each line of standard input, on behalf of the server itself.",
  positionals: ["COLLECTION"],
  options: {
    tenant: tenantOption,
    user: {
      value: "WHO",
      help: "as this user, with the policies of the role: an id or an address (default: the server itself)",
    },
    format: { value: "FORMAT", help: "ndjson or csv (default: by the first character)" },
    by: { value: "FIELD", help: "update the row with the same value of this unique field, if there is one" },
    atomic: { help: "write all lines or none" },
    "dry-run": { help: "check all lines and write nothing" },
    "ignore-read-only": { help: "ignore fields that callers cannot set, such as id" },
  },
  run: importLines,
};

async function importLines(args: Arguments): Promise<CommandOutput> {
  const format = args.text("format");
  if (format !== undefined && format !== "ndjson" && format !== "csv")
    throw new OperatorError(`--format is '${format}'; it must be ndjson or csv`);
  const [collection = ""] = args.positionals;
  const assembly = await assemble(args.project);
  const resources = importableResources(assembly.model, assembly.app);
  const resource = resources.get(collection);
  if (!resource)
    throw new OperatorError(
      `there is no collection '${collection}' to import into; use one of ${[...resources.keys()].join(", ")}`,
    );
  const request = parseImport(resource, queryOf(args));
  return withStore(assembly, async (store) => {
    const tenant = await findTenant(store, args.text("tenant"));
    // Each row would look up its number, as nothing has read it outside a transaction.
    await store.tenants.findNumber(store.database, tenant.id);
    const { engine, caller: system } = new TenantContext(store, assembly, tenant.id);
    const who = args.text("user");
    const caller =
      who === undefined
        ? system
        : await callerNamed(store, assembly.model, assembly.settings, tenant.id, who);
    requireScope(caller, resource.scopes.write);
    const report = (message: string): void => void process.stderr.write(`${message}\n`);
    const chunks: AsyncIterator<Buffer> = process.stdin[Symbol.asyncIterator]();
    const first: Buffer | undefined = (await chunks.next()).value;
    const unread = [first];
    const run = new ImportRun({
      source: { next: async () => unread.pop() ?? (await chunks.next()).value },
      parser: (format ?? formatOf(first)) === "csv" ? new CsvParser(resource) : new NdjsonParser(),
      rows: new RowImport(request, { engine, report }),
      isAtomic: request.isAtomic,
      currentCaller: async () => caller,
    });
    const showsProgress = process.stderr.isTTY;
    for await (const { lines } of run.run()) if (showsProgress) process.stderr.write(`\r${lines} lines`);
    if (showsProgress) process.stderr.write("\n");
    return outputOf(run, caller);
  });
}

/** CSV begins with the name of a field, which may be in quotes, and NDJSON with a brace. */
function formatOf(start: Buffer | undefined): "csv" | "ndjson" {
  const text = start?.toString("latin1", 0, 64).replace(/^\u00ef\u00bb\u00bf/, "") ?? "";
  return /^\s*["\w]/.test(text) ? "csv" : "ndjson";
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
function outputOf({ outcome }: ImportRun, { kind, tenantId, userId }: Caller): CommandOutput {
  const json = JSON.parse(outcome.toText());
  const { created, updated, failed, errors } = json;
  const who = kind === "system" ? "by the server itself" : `as ${userId}`;
  const lines = [
    `${created} created, ${updated} updated, ${failed} failed in ${tenantId}, ${who}`,
    ...errors.map(
      ({ line, error }: { readonly line: number; readonly error: { readonly message: string } }) =>
        `line ${line}: ${error.message}`,
    ),
  ];
  if (outcome.status === 200) return { json: { ...json, tenant: tenantId, user: userId }, lines };
  throw new OperatorError([json.error.message, ...lines].join("\n"));
}

export const commands: readonly Command[] = [importCommand];
