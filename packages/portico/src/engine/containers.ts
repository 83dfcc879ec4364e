// What a collection stands under beside its own parent: a row that its rows refer to, or the caller's tenant.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { Attribute } from "../model/model.ts";
import type { Condition } from "../query/read.ts";
import type { Store } from "../store/store.ts";
import { requireParentRow } from "./find-row.ts";

export interface Container {
  readonly by: Attribute | "tenant";
  readonly id: string;
}

/** The tenant is part of every statement anyway. */
export function containerConditions({ by, id }: Container): readonly Condition[] {
  return by === "tenant" ? [] : [{ attribute: by, operator: "in", values: [id] }];
}

/** @throws Problem `not_found` where the caller cannot see it */
export async function requireContainer(store: Store, caller: Caller, { by, id }: Container): Promise<void> {
  if (by !== "tenant") return requireParentRow(store, store.database, caller, by.reference!.target, id);
  if (id !== caller.tenantId) throw new Problem("not_found", "There is no tenant with this id.");
}
