// portico migrate

import { resolve } from "node:path";
import {
  appointOwners,
  checkOwnersOfLayout1,
  type OwnerChoice,
  planRoles,
  tenantsWithoutOwner,
} from "../../auth/users/role-upgrade.ts";
import { OperatorError } from "../../errors.ts";
import { eventsTable } from "../../events/event.ts";
import { rewriteEventTypes } from "../../events/rewrite-event-types.ts";
import { buildApi } from "../../graphql/schema/schema.ts";
import { type Assembly, assemble, withStore } from "../../runtime/compose.ts";
import { withSizes } from "../../store/schema/index-sizes.ts";
import { lossesOf } from "../../store/schema/losses.ts";
import { existingTables, type MigrationOptions, migrate } from "../../store/schema/migrate.ts";
import type { MigrationPlan } from "../../store/schema/migration-plan.ts";
import { undeclaredColumns, undeclaredTables } from "../../store/schema/undeclared.ts";
import type { Store } from "../../store/store.ts";
import type { Arguments, Command, CommandOutput } from "../command.ts";
import { columnName, dropRequest } from "../migration/column-name.ts";
import { confirmLosses } from "../migration/confirm.ts";
import { removeDroppedFiles } from "../migration/dropped-files.ts";
import { migrateLayout } from "../migration/layout.ts";
import { type PlanOptions, planFile, readPlanFile } from "../migration/plan-file.ts";
import { MigrationProgress } from "../migration/progress.ts";
import { reportLines } from "../migration/report.ts";

const migrateCommand: Command = {
  name: "migrate",
  summary: "Apply the schema changes that the declarations need. Nothing is deleted without --drop.",
  options: {
    plan: { help: "print the plan as JSON, to be reviewed and applied later" },
    apply: {
      value: "FILE",
      help: "apply a plan, unless the database or the declarations have changed since",
    },
    "dry-run": { help: "print the statements without applying them" },
    owner: {
      value: "USER",
      help: "address or id of the user who becomes the owner of a tenant that has none, or first for each first user",
      isRepeated: true,
    },
    contract: {
      help: "also require fields, recompute search words, rewrite events and drop indexes of earlier versions; no server of one may be running",
    },
    drop: {
      value: "NAME",
      isRepeated: true,
      help: "delete the values of a removed field, posts.slug, or the rows of a removed resource, posts",
    },
    yes: { help: "delete, or change the layout, without asking" },
    keep: {
      value: "RESOURCE.FIELD",
      isRepeated: true,
      help: "leave the column of a removed field, although a field of its type is added",
    },
    layout: {
      help: "change the layout of a database of an earlier version; no server may be running",
    },
  },
  async run(args) {
    const assembly = await assemble(args.project);
    // Refuses what `serve` would refuse, before anything is migrated.
    buildApi(assembly.model);
    const { tables, model } = assembly;
    if (args.isSet("layout")) return layoutMigration(assembly, args);
    const reviewed = await reviewedPlan(args);
    const { contract: isContraction, drop, keep } = reviewed ?? planOptions(args);
    const isPlan = args.isSet("plan");
    const isDryRun = isPlan || args.isSet("dry-run");
    const progress = new MigrationProgress();
    const onProgress = progress.report.bind(progress);
    const drops = drop.map((name) => dropRequest(model, name));
    const kept = keep.map((name) => columnName(model, name));
    const options = { isDryRun, isContraction, kept, drops, onProgress, ...(reviewed && { reviewed }) };
    const { ownerless, plan, ...report } = await withStore(assembly, async (store) => {
      const { owners, reducedKeys } = await planRoles(store, model, ownerChoice(assembly, args));
      const losses = await lossesOf(store, tables, drops);
      if (losses.length > 0 && !isDryRun && !args.isSet("yes")) await confirmLosses(losses);
      let rewrittenEvents: number | undefined;
      const complete = async (): Promise<void> => {
        await appointOwners(store, model, owners);
        if (isContraction) rewrittenEvents = await contract(store, isDryRun, onProgress);
      };
      const { statements, indexes, plan } = await migrate(store, tables, { ...options, complete });
      if (!isDryRun) await removeDroppedFiles(store, drops);
      if (isDryRun && isContraction) rewrittenEvents = await contract(store, isDryRun, onProgress);
      return {
        isDryRun,
        plan,
        statements,
        indexes: await withSizes(store, tables, indexes, isDryRun),
        losses,
        undeclared: await undeclaredTables(store, tables),
        undeclaredColumns: await undeclaredColumns(store, tables),
        rewrittenEvents,
        ...{ owners, reducedKeys },
        ownerless: isDryRun ? [] : await tenantsWithoutOwner(store, model),
      };
    });
    progress.end();
    if (isPlan) {
      const file = planFile(
        plan,
        { contract: isContraction, drop, keep },
        { losses: report.losses, indexes: report.indexes },
      );
      return { json: { ...file }, lines: [JSON.stringify(file, null, 2)] };
    }
    return { json: report, lines: reportLines({ ...report, ownerless, ownerRole: model.roles[0]?.name }) };
  },
};

/** Changes the layout, and brings the database to the declarations without dropping anything. */
function layoutMigration(assembly: Assembly, args: Arguments): Promise<CommandOutput> {
  const { settings, tables, model } = assembly;
  const kept = args.all("keep").map((name) => columnName(model, name));
  const choice = ownerChoice(assembly, args);
  const check = (store: Store): Promise<void> => checkOwnersOfLayout1(store, choice);
  const complete = async (store: Store): Promise<void> => {
    const { owners } = await planRoles(store, model, choice);
    await migrate(store, tables, { kept });
    await appointOwners(store, model, owners);
  };
  const { databaseUrl } = settings;
  return migrateLayout({ databaseUrl, tables, check, complete, isConfirmed: args.isSet("yes") });
}

function ownerChoice({ settings }: Assembly, args: Arguments): OwnerChoice {
  return { names: args.all("owner"), isSandbox: settings.mode === "sandbox" };
}

function planOptions(args: Arguments): PlanOptions {
  return { contract: args.isSet("contract"), drop: args.all("drop"), keep: args.all("keep") };
}

/** The plan of `--apply`, which says what else is asked for. @throws OperatorError for options beside it */
async function reviewedPlan(args: Arguments): Promise<(MigrationPlan & PlanOptions) | undefined> {
  const path = args.text("apply");
  if (path === undefined) return undefined;
  const { contract, drop, keep } = planOptions(args);
  if (contract || drop.length > 0 || keep.length > 0 || args.isSet("plan"))
    throw new OperatorError("--apply takes --contract, --drop and --keep from the plan; leave them out");
  return readPlanFile(resolve(args.project.folder, path));
}

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
