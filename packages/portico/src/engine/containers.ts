// The container of a nested collection: the row that its rows refer to, or the caller's tenant.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import { isId } from "../lib/id.ts";
import type { ResourceModel } from "../model/model.ts";
import type { Comparison } from "../query/condition.ts";
import type { Container } from "../query/read.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { requireParentRow, throwNotFound } from "./find-row.ts";

/** The condition that limits a list to its container; none for the tenant, which every statement is limited to. */
export function containerConditions({ by, id }: Container): readonly Comparison[] {
  return by === "tenant" ? [] : [{ attribute: by, operator: "in", values: [id] }];
}

/**
 * Whether a row in the container proves that the caller may see the container: rows that inherit the policy of their
 * parent are visible only with it, and a row that no policy restricts is visible wherever something refers to it.
 */
export function isProvenByRow({ parent, inheritsPolicy }: ResourceModel, { by }: Container): boolean {
  if (by === "tenant") return false;
  return !by.reference!.target.isRestricted || (by === parent && inheritsPolicy);
}

/** @throws Problem `not_found` for an id that no row can have */
export function requireContainerId({ by, id }: Container): void {
  if (by !== "tenant" && !isId(id)) throwNotFound(by.reference!.target);
}

/** @throws Problem `not_found` if the caller may not see the container */
export async function requireContainer(
  store: Store,
  caller: Caller,
  { by, id }: Container,
  session: Session = store.database,
): Promise<void> {
  if (by !== "tenant") return requireParentRow(store, session, caller, by.reference!.target, id);
  if (id !== caller.tenantId) throw new Problem("not_found", "There is no tenant with this id.");
}
