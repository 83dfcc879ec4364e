// The input of a compiled read. Its parameters take their values from the same positions of the plan that the statement
// was compiled from, so one statement serves every plan of that shape.

import { type RawBuilder, sql } from "kysely";
import type { Condition } from "../../query/condition.ts";
import type { Selection } from "../../query/read.ts";
import { parameter } from "../statement.ts";

/** What a compiled read is bound to: the values of one plan, and the tenant that reads. */
export interface ReadInput<Plan> {
  readonly tenantId: string;
  /** Null for a tenant that does not exist: the statement returns no rows. */
  readonly tenantNo: number | null;
  readonly read: Plan;
  /** The words of a search, by the way in which they are found. */
  readonly search?: SearchTerms;
}

export interface SearchTerms {
  /** Words that the search index finds. */
  readonly indexed: readonly string[];
  /** Words that are checked on each row. */
  readonly checked: readonly string[];
  /** How many entries of the index of the sort are compared with the matches at most. */
  readonly maxEntries: number;
}

export type Expression = RawBuilder<unknown>;

type PlanInput = ReadInput<{ readonly selection: Selection; readonly conditions: readonly Condition[] }>;

/** Gets a part of the plan from the input: a list of conditions, a selection, a member of a selection. */
export type GetFrom<Part> = (input: PlanInput) => Part;

/** Gets the conditions of the row that is read. */
export const getConditions: GetFrom<readonly Condition[]> = ({ read }) => read.conditions;

/** Gets the selection of the row that is read. */
export const getSelection: GetFrom<Selection> = ({ read }) => read.selection;

/** A parameter whose value comes from the plan. */
export function planParameter(read: GetFrom<unknown>, meaning?: string): Expression {
  return parameter(read, meaning);
}

/** Whose turn a slow read takes: the tenant's, or that of its anonymous callers, so that they hold up each other only. */
export function tenantOf({ tenantId, read }: ReadInput<{ readonly isAnonymous?: boolean }>): string {
  return read.isAnonymous ? `${tenantId} anonymous` : tenantId;
}

/** The tenant that reads, as a parameter. */
function tenantParameter(): Expression {
  return parameter(({ tenantNo }: ReadInput<unknown>) => tenantNo, "tenant");
}

/** The condition that the row `alias` belongs to the tenant that reads. */
export function isOfTenant(alias: string): Expression {
  return sql`${sql.ref(`${alias}.tenant_no`)} = ${tenantParameter()}`;
}
