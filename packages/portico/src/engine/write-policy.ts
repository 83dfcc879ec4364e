// Checks rows against the policies for writing: as they are before a write, and as the write leaves them. What the values
// of a row do not decide, because related rows do, is read in the transaction of the write.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { Attribute, ResourceModel, WriteOperation } from "../model/model.ts";
import { type Condition, isComparison } from "../query/condition.ts";
import type { RowValues } from "../query/write.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { resultConditions, writeConditions } from "./policy.ts";
import { evaluateAll, type Verdict } from "./row-conditions.ts";
import { currentValue } from "./validation/row-values.ts";

interface PolicyScope {
  readonly store: Store;
  readonly session: Session;
  readonly caller: Caller;
  readonly now: string;
  /** Whether policies apply: they do not to what hooks write. */
  readonly isByHook: boolean;
}

export class WritePolicy {
  readonly #scope: PolicyScope;

  constructor(scope: PolicyScope) {
    this.#scope = scope;
  }

  /** Requires that the caller may write a row that the caller can read. @throws Problem `forbidden` */
  async requireWritable(resource: ResourceModel, operation: WriteOperation, row: RowValues): Promise<void> {
    await this.requireAllWritable(resource, operation, [row]);
  }

  /** The same for several rows. */
  async requireAllWritable(
    resource: ResourceModel,
    operation: WriteOperation,
    rows: readonly RowValues[],
  ): Promise<void> {
    const { caller, now, isByHook } = this.#scope;
    if (isByHook) return;
    const conditions = writeConditions(caller, resource, operation);
    const undecided = rows.filter((row) => requirePossible(resource, conditions, row, now).length > 0);
    await this.requireAllStored(resource, idsOf(undecided), conditions);
  }

  /**
   * `requireResult` for several rows, and `requireStored` for those whose values do not decide.
   * @returns what to check once the rows are written
   */
  requireResults(
    resource: ResourceModel,
    operation: WriteOperation,
    rows: readonly RowValues[],
  ): () => Promise<void> {
    const undecided = rows.map((row) => ({ row, conditions: this.requireResult(resource, operation, row) }));
    const unchecked = undecided.filter(({ conditions }) => conditions.length > 0);
    // The conditions are those of the caller for the operation, so they are the same for all rows.
    const conditions = unchecked[0]?.conditions ?? none;
    return () => this.requireAllStored(resource, idsOf(unchecked.map(({ row }) => row)), conditions);
  }

  /**
   * Requires that a row may be the result of a write, as far as its values decide.
   * @returns conditions that `requireStored` checks once the row is written
   * @throws Problem `forbidden`
   */
  requireResult(resource: ResourceModel, operation: WriteOperation, row: RowValues): readonly Condition[] {
    const { caller, now, isByHook } = this.#scope;
    if (isByHook) return none;
    return requirePossible(resource, resultConditions(caller, resource, operation), row, now);
  }

  /** Requires that a row in the database meets conditions. @throws Problem `forbidden` */
  async requireStored(resource: ResourceModel, id: string, conditions: readonly Condition[]): Promise<void> {
    await this.requireAllStored(resource, [id], conditions);
  }

  /** The same for several rows. */
  async requireAllStored(
    resource: ResourceModel,
    ids: readonly string[],
    conditions: readonly Condition[],
  ): Promise<void> {
    if (conditions.length === 0) return;
    const { store, session, caller } = this.#scope;
    const matching = await store.filterIds(caller.tenantId, resource, { ids, conditions }, session);
    if (ids.some((id) => !matching.has(id))) throw forbidden(resource);
  }
}

const none: readonly never[] = Object.freeze([]);

function idsOf(rows: readonly RowValues[]): string[] {
  return rows.map(({ id }) => String(id));
}

/** @returns the conditions, or none if the row certainly meets them @throws Problem `forbidden` */
function requirePossible(
  resource: ResourceModel,
  conditions: readonly Condition[],
  row: RowValues,
  now: string,
): readonly Condition[] {
  const verdict = evaluateWritten(conditions, row, now);
  if (verdict === false) throw forbidden(resource);
  return verdict ? none : conditions;
}

/** Whether a row that is about to be written, or has just been read, meets conditions. */
export function evaluateWritten(conditions: readonly Condition[], row: RowValues, now: string): Verdict {
  if (conditions.length === 0) return true;
  const current = [...comparedAttributes(conditions)].map((attribute) => [
    attribute.name,
    currentValue(attribute, row, now),
  ]);
  return evaluateAll(conditions, Object.fromEntries(current));
}

/** The attributes of the row itself that conditions compare. */
function comparedAttributes(conditions: readonly Condition[]): Set<Attribute> {
  const attributes = new Set<Attribute>();
  for (const condition of conditions) {
    if (isComparison(condition) || condition.operator === "is") attributes.add(condition.attribute);
    else if (condition.operator !== "some")
      for (const each of comparedAttributes(condition.conditions)) attributes.add(each);
  }
  return attributes;
}

function forbidden({ title }: ResourceModel): Problem {
  return new Problem("forbidden", `You are not allowed to write this ${title}.`);
}
