// portico migrate

import {
  appointOwners,
  type NewOwner,
  planRoles,
  type ReducedKey,
  tenantsWithoutOwner,
} from "../../auth/users/role-upgrade.ts";
import { eventsTable } from "../../events/event.ts";
import { rewriteEventTypes } from "../../events/rewrite-event-types.ts";
import { buildApi } from "../../graphql/schema/schema.ts";
import { assemble, withStore } from "../../runtime/compose.ts";
import { type SizedIndexChange, withSizes } from "../../store/schema/index-sizes.ts";
import { existingTables, migrate } from "../../store/schema/migrate.ts";
import { undeclaredTables } from "../../store/schema/undeclared.ts";
import type { Store } from "../../store/store.ts";
import type { Command } from "../command.ts";

const progressIntervalMs = 1_000;

const migrateCommand: Command = {
  name: "migrate",
  summary: "Apply the schema changes that the declarations need. No table or column is dropped.",
  options: {
    "dry-run": { help: "print the statements without applying them" },
    owner: {
      value: "USER",
      help: "address or id of the user who becomes the owner of a tenant that has none, or first for each first user",
      isRepeated: true,
    },
    contract: {
      help: "also rewrite rows and drop indexes of earlier versions; no server of one may be running",
    },
  },
  async run(args) {
    const assembly = await assemble(args.project);
    // Refuses what `serve` would refuse, before anything is migrated.
    buildApi(assembly.model);
    const isDryRun = args.isSet("dry-run");
    const isContraction = args.isSet("contract");
    const { tables, model } = assembly;
    const { statements, indexes, undeclared, rewrittenEvents, roles, ownerless } = await withStore(
      assembly,
      async (store) => {
        const roles = await planRoles(store, model, args.all("owner"));
        const { statements, indexes } = await migrate(store, tables, { isDryRun, isContraction });
        if (!isDryRun) await appointOwners(store, model, roles.owners);
        return {
          statements,
          indexes: await withSizes(store, tables, indexes, isDryRun),
          undeclared: await undeclaredTables(store, tables),
          rewrittenEvents: isContraction ? await contract(store, isDryRun) : undefined,
          roles,
          ownerless: isDryRun ? [] : await tenantsWithoutOwner(store, model),
        };
      },
    );
    const { owners, reducedKeys } = roles;
    const summary = statements.length === 0 ? "The database is up to date." : appliedCount(statements.length);
    return {
      json: { statements, indexes, isDryRun, undeclared, rewrittenEvents, owners, reducedKeys },
      lines: [
        ...(isDryRun && statements.length > 0 ? statements.map((statement) => `${statement};`) : [summary]),
        ...indexes.map((index) => indexLine(index, isDryRun)),
        ...(rewrittenEvents === undefined ? [] : [rewrittenCount(rewrittenEvents, isDryRun)]),
        ...owners.map((owner) => ownerLine(owner, model.roles[0]!.name, isDryRun)),
        ...reducedKeys.map((key) => reducedKeyLine(key, isDryRun)),
        ...ownerless.map(noteOnOwnerless),
        ...undeclared.map(noteOn),
      ],
    };
  },
};

/** Replaces what only earlier versions need. @returns how many events were rewritten, or would be */
async function contract(store: Store, isDryRun: boolean): Promise<number> {
  // A dry run of the first migration has no tables yet.
  if (isDryRun && !(await existingTables(store)).has(eventsTable.name)) return 0;
  let reportedAt = performance.now();
  const onProgress = (fraction: number, count: number): void => {
    if (performance.now() - reportedAt < progressIntervalMs) return;
    reportedAt = performance.now();
    process.stderr.write(`${Math.floor(fraction * 100)} % of the events checked, ${count} rewritten\n`);
  };
  return rewriteEventTypes(store, { isDryRun, onProgress });
}

/** Written as an SQL comment in a dry run, so that its output can be executed. */
function indexLine({ name, table, change, size, isEstimate }: SizedIndexChange, isDryRun: boolean): string {
  const index = `the index ${name} of ${table}`;
  const sized = size === undefined ? index : `${index} (${isEstimate ? "about " : ""}${formatSize(size)})`;
  const capitalized = `T${sized.slice(1)}`;
  if (change === "unneeded")
    return `-- ${capitalized} is no longer needed. portico migrate --contract drops it.`;
  if (isDryRun) return `-- ${capitalized} would be ${change}.`;
  return `${change === "created" ? "Created" : "Dropped"} ${sized}.`;
}

function formatSize(bytes: number): string {
  const kibibytes = Math.ceil(bytes / 1024);
  return kibibytes < 1024 ? `${kibibytes} KiB` : `${(kibibytes / 1024).toFixed(1)} MiB`;
}

function appliedCount(count: number): string {
  return `Applied ${count} statement${count === 1 ? "" : "s"}.`;
}

/** Written as an SQL comment in a dry run, so that its output can be executed. */
function rewrittenCount(count: number, isDryRun: boolean): string {
  const events = `${count} event${count === 1 ? "" : "s"}`;
  return isDryRun
    ? `-- ${events} from earlier versions would be rewritten.`
    : `Rewrote ${events} from earlier versions.`;
}

function ownerLine({ email, tenantName, tenantId }: NewOwner, role: string, isDryRun: boolean): string {
  const tenant = `the tenant ${tenantName} (${tenantId})`;
  return isDryRun
    ? `-- ${email} would be the ${role} of ${tenant}.`
    : `${email} is the ${role} of ${tenant}.`;
}

function reducedKeyLine({ name, prefix, role, lostScopes }: ReducedKey, isDryRun: boolean): string {
  const key = `key ${name} (${prefix}…)`;
  const reason = `which the role ${role} of its owner does not include`;
  if (isDryRun) return `-- The ${key} would lose ${lostScopes.join(", ")}, ${reason}.`;
  return `The ${key} has lost ${lostScopes.join(", ")}, ${reason}.`;
}

function noteOnOwnerless(tenantId: string): string {
  return `-- No active user of the tenant ${tenantId} has every scope. Appoint one: portico migrate --owner USER.`;
}

/** Written as an SQL comment, so that the output of a dry run can be executed. */
function noteOn(table: string): string {
  return `-- The table ${table} has rows, but no resource declares it. It is kept. If the resource was renamed, set its plural to the old name.`;
}

export const commands: readonly Command[] = [migrateCommand];
