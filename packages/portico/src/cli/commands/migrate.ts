// portico migrate

import { buildApi } from "../../graphql/schema/schema.ts";
import { assemble, withStore } from "../../runtime/compose.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { undeclaredTables } from "../../store/schema/undeclared.ts";
import type { Command } from "../command.ts";

const migrateCommand: Command = {
  name: "migrate",
  summary: "Apply the schema changes that the declarations need. No table or column is dropped.",
  options: { "dry-run": { help: "print the statements without applying them" } },
  async run(args) {
    const assembly = await assemble(args.project);
    // Refuses what `serve` would refuse, before anything is migrated.
    buildApi(assembly.model);
    const isDryRun = args.isSet("dry-run");
    const { tables } = assembly;
    const { statements, undeclared } = await withStore(assembly, async (store) => ({
      statements: await migrate(store, tables, isDryRun),
      undeclared: await undeclaredTables(store, tables),
    }));
    const summary = statements.length === 0 ? "The database is up to date." : appliedCount(statements.length);
    return {
      json: { statements, isDryRun, undeclared },
      lines: [
        ...(isDryRun && statements.length > 0 ? statements.map((statement) => `${statement};`) : [summary]),
        ...undeclared.map(noteOn),
      ],
    };
  },
};

function appliedCount(count: number): string {
  return `Applied ${count} statement${count === 1 ? "" : "s"}.`;
}

/** Written as an SQL comment, so that the output of a dry run can be executed. */
function noteOn(table: string): string {
  return `-- The table ${table} has rows, but no resource declares it. It is kept. If the resource was renamed, set its plural to the old name.`;
}

export const commands: readonly Command[] = [migrateCommand];
