// What `portico migrate` prints.

import type { NewOwner, ReducedKey } from "../../auth/users/role-upgrade.ts";
import type { SizedIndexChange } from "../../store/schema/index-sizes.ts";

export interface MigrationReport {
  /** The SQL statements. */
  readonly statements: readonly string[];
  readonly indexes: readonly SizedIndexChange[];
  readonly isDryRun: boolean;
  /** What was deleted. */
  readonly losses: readonly string[];
  /** Tables with rows and columns that no resource and no field declares. */
  readonly undeclared: readonly string[];
  readonly undeclaredColumns: readonly string[];
  readonly rewrittenEvents: number | undefined;
  readonly owners: readonly NewOwner[];
  readonly reducedKeys: readonly ReducedKey[];
  /** The ids of tenants without an owner, and the name of that role. */
  readonly ownerless: readonly string[];
  readonly ownerRole: string | undefined;
}

/** Notes are SQL comments, so that the output of a dry run can be executed. */
export function reportLines({
  statements,
  indexes,
  isDryRun,
  losses,
  undeclared,
  undeclaredColumns,
  rewrittenEvents,
  ...roles
}: MigrationReport): string[] {
  const summary = statements.length === 0 ? "The database is up to date." : appliedCount(statements.length);
  return [
    ...(isDryRun && statements.length > 0 ? statements.map((statement) => `${statement};`) : [summary]),
    ...losses.map((loss) => (isDryRun ? `-- This would delete ${loss}.` : `Deleted ${loss}.`)),
    ...indexes.map((index) => indexLine(index, isDryRun)),
    ...(rewrittenEvents === undefined ? [] : [rewrittenCount(rewrittenEvents, isDryRun)]),
    ...roles.owners.map((owner) => ownerLine(owner, roles.ownerRole!, isDryRun)),
    ...roles.reducedKeys.map((key) => reducedKeyLine(key, isDryRun)),
    ...roles.ownerless.map(noteOnOwnerless),
    ...undeclaredColumns.map(noteOnColumn),
    ...undeclared.map(noteOn),
  ];
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

/** Written as an SQL comment, so that the output of a dry run can be executed. */
function noteOn(table: string): string {
  return `-- The table ${table} has rows, but no resource declares it. It is kept; --drop ${table} deletes it. If the resource was renamed, declare was: the first name.`;
}

function noteOnColumn(column: string): string {
  return `-- The column ${column} belongs to no field. It is kept; --drop ${column} deletes it.`;
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
