// The keys of a tenant as the commands show and revoke them.

import { sql } from "kysely";
import type { Model } from "../declare/model.ts";
import { OperatorError } from "../errors.ts";
import { wholeRow } from "../plan/selection.ts";
import { rowJson } from "../store/compile-row.ts";
import { compile, slot } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { apiKeys, type KeyStatus, type KeyType, keyStatus } from "./api-key.ts";

export interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly type: KeyType;
  readonly status: KeyStatus;
  readonly scopes: readonly string[];
  readonly ownerId: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
}

/** Every key of a tenant, newest first. */
export async function listKeys(store: Store, model: Model, tenantId: string): Promise<ListedKey[]> {
  const keys = model.resource.get(apiKeys.name)!;
  const statement = compile(
    store.dialect.builder,
    sql`select ${rowJson(store.dialect, "r", wholeRow(keys))} from api_keys as r
      where r.tenant_id = ${slot(() => tenantId)} order by r.created_at desc, r.id desc`,
  );
  const rows = await store.database.query(statement, undefined);
  return rows.map(([text]) => {
    const key = JSON.parse(text as string) as Omit<ListedKey, "status">;
    return { ...key, status: keyStatus(key) };
  });
}

/**
 * Revokes a key at once; its record is kept. Revoking it again changes nothing.
 * @throws OperatorError where the tenant has no such key
 */
export async function revokeKey(
  store: Store,
  model: Model,
  tenantId: string,
  id: string,
): Promise<ListedKey> {
  const key = (await listKeys(store, model, tenantId)).find((each) => each.id === id);
  if (!key) throw new OperatorError(`there is no key ${id}; see: portico key list`);
  if (key.revokedAt !== null) return key;
  const now = new Date().toISOString();
  const values = { revokedAt: now, updatedAt: now };
  const resource = model.resource.get(apiKeys.name)!;
  await store.transaction((session) => store.update(session, { resource, tenantId, id, values }));
  return { ...key, revokedAt: now, status: "revoked" };
}
