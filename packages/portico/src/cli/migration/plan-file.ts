// The file that `portico migrate --plan` writes and `--apply` reads.

import { readFile, stat } from "node:fs/promises";
import { OperatorError } from "../../errors.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { SizedIndexChange } from "../../store/schema/index-sizes.ts";
import type { MigrationPlan } from "../../store/schema/migration-plan.ts";

/** The form of the file. */
const version = 1;
const maxBytes = 16 * 1024 * 1024;

/** What was asked for besides the changes that the declarations need. */
export interface PlanOptions {
  readonly contract: boolean;
  readonly drop: readonly string[];
  readonly keep: readonly string[];
}

export interface PlanFile extends MigrationPlan, PlanOptions {
  readonly version: typeof version;
  /** What is deleted, in words. */
  readonly losses: readonly string[];
  readonly indexes: readonly SizedIndexChange[];
}

export function planFile(
  plan: MigrationPlan,
  options: PlanOptions,
  others: Pick<PlanFile, "losses" | "indexes">,
): PlanFile {
  return { version, ...options, ...plan, ...others };
}

/** @throws OperatorError for a file that cannot be read, or is not a plan */
export async function readPlanFile(path: string): Promise<MigrationPlan & PlanOptions> {
  const refuse = (reason: string): never => {
    throw new OperatorError(
      `${path} is not a migration plan: ${reason}; make one with portico migrate --plan`,
    );
  };
  const plan = parse(await readText(path, refuse), refuse);
  if (!isRecord(plan)) return refuse("it is not a JSON object");
  if (plan["version"] !== version) return refuse(`its version is not ${version}`);
  const { contract, drop, keep, fingerprints, steps } = plan;
  if (typeof contract !== "boolean") return refuse("contract is neither true nor false");
  if (!isListOf(drop, isText)) return refuse("drop is not a list of names");
  if (!isListOf(keep, isText)) return refuse("keep is not a list of names");
  if (!isRecord(fingerprints)) return refuse("it has no fingerprints");
  const { database, declarations } = fingerprints;
  if (!isText(database) || !isText(declarations)) return refuse("it has no fingerprints");
  if (!isListOf(steps, isStep)) return refuse("steps is not a list of steps");
  return { contract, drop, keep, fingerprints: { database, declarations }, steps };
}

async function readText(path: string, refuse: (reason: string) => never): Promise<string> {
  try {
    if ((await stat(path)).size > maxBytes) refuse("it is too large");
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${path} cannot be read: ${errorMessage(error)}`);
  }
}

function parse(text: string, refuse: (reason: string) => never): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuse("it is not JSON");
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem);
}

function isStep(value: unknown): value is MigrationPlan["steps"][number] {
  return (
    isRecord(value) &&
    isText(value["kind"]) &&
    isText(value["sql"]) &&
    typeof value["losesData"] === "boolean"
  );
}
