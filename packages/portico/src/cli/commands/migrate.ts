// portico migrate

import { migrate } from "../../store/migrate.ts";
import { assemble, withStore } from "../assemble.ts";
import type { Command } from "../command.ts";

const migrateCommand: Command = {
  name: "migrate",
  summary: "Bring the database to the schema of the declarations; only additions are made.",
  options: { "dry-run": { help: "print the statements without running them" } },
  async run(given) {
    const assembly = await assemble();
    const isDryRun = given.isSet("dry-run");
    const statements = await withStore(assembly, (store) => migrate(store, assembly.tables, isDryRun));
    const done =
      statements.length === 0 ? "The database is up to date." : `${statements.length} statements were run.`;
    return {
      json: { statements, isDryRun },
      lines: isDryRun && statements.length > 0 ? statements.map((statement) => `${statement};`) : [done],
    };
  },
};

export const commands: readonly Command[] = [migrateCommand];
