// The keys of a tenant as the commands show them.

import { sql } from "kysely";
import type { Model } from "../declare/model.ts";
import type { RecordOf } from "../declare/record.ts";
import { wholeRow } from "../plan/selection.ts";
import { rowJson } from "../store/compile-row.ts";
import { compile, slot } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import type { ApiKeys } from "./key-resource.ts";

/** Every key of a tenant, newest first. */
export async function listKeys(store: Store, model: Model, tenantId: string): Promise<RecordOf<ApiKeys>[]> {
  const keys = model.resource.get("apiKey")!;
  const statement = compile(
    store.dialect.builder,
    sql`select ${rowJson(store.dialect, "r", wholeRow(keys))} from api_keys as r
      where r.tenant_id = ${slot(() => tenantId)} order by r.created_at desc, r.id desc`,
  );
  const rows = await store.database.query(statement, undefined);
  return rows.map(([text]) => JSON.parse(text as string));
}
