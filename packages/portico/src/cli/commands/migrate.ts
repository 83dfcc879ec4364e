// portico migrate

import { appointOwners, planRoles, tenantsWithoutOwner } from "../../auth/users/role-upgrade.ts";
import { eventsTable } from "../../events/event.ts";
import { rewriteEventTypes } from "../../events/rewrite-event-types.ts";
import { buildApi } from "../../graphql/schema/schema.ts";
import { assemble, withStore } from "../../runtime/compose.ts";
import { withSizes } from "../../store/schema/index-sizes.ts";
import { existingTables, lossesOf, type MigrationOptions, migrate } from "../../store/schema/migrate.ts";
import { undeclaredColumns, undeclaredTables } from "../../store/schema/undeclared.ts";
import type { Store } from "../../store/store.ts";
import type { Command } from "../command.ts";
import { columnName, dropRequest } from "../migration/column-name.ts";
import { confirmLosses } from "../migration/confirm.ts";
import { MigrationProgress } from "../migration/progress.ts";
import { reportLines } from "../migration/report.ts";

const migrateCommand: Command = {
  name: "migrate",
  summary: "Apply the schema changes that the declarations need. Nothing is deleted without --drop.",
  options: {
    "dry-run": { help: "print the statements without applying them" },
    owner: {
      value: "USER",
      help: "address or id of the user who becomes the owner of a tenant that has none, or first for each first user",
      isRepeated: true,
    },
    contract: {
      help: "also require fields, rewrite events and drop indexes of earlier versions; no server of one may be running",
    },
    drop: {
      value: "NAME",
      isRepeated: true,
      help: "delete the values of a removed field, posts.slug, or the rows of a removed resource, posts",
    },
    yes: { help: "delete without asking" },
    keep: {
      value: "RESOURCE.FIELD",
      isRepeated: true,
      help: "leave the column of a removed field, although a field of its type is added",
    },
  },
  async run(args) {
    const assembly = await assemble(args.project);
    // Refuses what `serve` would refuse, before anything is migrated.
    buildApi(assembly.model);
    const isDryRun = args.isSet("dry-run");
    const isContraction = args.isSet("contract");
    const { tables, model } = assembly;
    const progress = new MigrationProgress();
    const onProgress = progress.report.bind(progress);
    const drops = args.all("drop").map((name) => dropRequest(model, name));
    const kept = args.all("keep").map((name) => columnName(model, name));
    const options = { isDryRun, isContraction, kept, drops, onProgress };
    const { ownerless, ...report } = await withStore(assembly, async (store) => {
      const { owners, reducedKeys } = await planRoles(store, model, args.all("owner"));
      const losses = await lossesOf(store, tables, drops);
      if (losses.length > 0 && !isDryRun && !args.isSet("yes")) await confirmLosses(losses);
      const { statements, indexes } = await migrate(store, tables, options);
      if (!isDryRun) await appointOwners(store, model, owners);
      return {
        isDryRun,
        statements,
        indexes: await withSizes(store, tables, indexes, isDryRun),
        losses,
        undeclared: await undeclaredTables(store, tables),
        undeclaredColumns: await undeclaredColumns(store, tables),
        rewrittenEvents: isContraction ? await contract(store, isDryRun, onProgress) : undefined,
        ...{ owners, reducedKeys },
        ownerless: isDryRun ? [] : await tenantsWithoutOwner(store, model),
      };
    });
    progress.end();
    return { json: report, lines: reportLines({ ...report, ownerless, ownerRole: model.roles[0]?.name }) };
  },
};

/** Replaces what only earlier versions need. @returns how many events were rewritten, or would be */
async function contract(
  store: Store,
  isDryRun: boolean,
  report: NonNullable<MigrationOptions["onProgress"]>,
): Promise<number> {
  // A dry run of the first migration has no tables yet.
  if (isDryRun && !(await existingTables(store)).has(eventsTable.name)) return 0;
  const onProgress = (fraction: number): void =>
    report("check the types of events", Math.floor(fraction * 100), 100);
  return rewriteEventTypes(store, { isDryRun, onProgress });
}

export const commands: readonly Command[] = [migrateCommand];
