// portico migrate

import { buildApi } from "../../graphql/schema/schema.ts";
import { assemble, withStore } from "../../runtime/compose.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { undeclaredTables } from "../../store/schema/undeclared.ts";
import type { Command } from "../command.ts";

const migrateCommand: Command = {
  name: "migrate",
  summary: "Bring the database to the schema of the declarations; only additions are made.",
  options: { "dry-run": { help: "print the statements without running them" } },
  async run(args) {
    const assembly = await assemble(args.project);
    // Nothing is migrated to what `serve` then refuses to serve.
    buildApi(assembly.model);
    const isDryRun = args.isSet("dry-run");
    const { tables } = assembly;
    const { statements, undeclared } = await withStore(assembly, async (store) => ({
      statements: await migrate(store, tables, isDryRun),
      undeclared: await undeclaredTables(store, tables),
    }));
    const summary =
      statements.length === 0 ? "The database is up to date." : `${statements.length} statements were run.`;
    return {
      json: { statements, isDryRun, undeclared },
      lines: [
        ...(isDryRun && statements.length > 0 ? statements.map((statement) => `${statement};`) : [summary]),
        ...undeclared.map(noteOn),
      ],
    };
  },
};

/** A comment in SQL too, for those who hand on what a dry run prints. */
function noteOn(table: string): string {
  return `-- The table ${table} has rows, but no resource is declared for it. It is kept. If the resource was renamed, set its plural to the old name.`;
}

export const commands: readonly Command[] = [migrateCommand];
