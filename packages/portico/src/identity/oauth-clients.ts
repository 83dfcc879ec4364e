// The OAuth clients of a tenant as the commands show them.

import { sql } from "kysely";
import type { Model } from "../declare/model.ts";
import type { RecordOf } from "../declare/record.ts";
import { wholeRow } from "../plan/selection.ts";
import { rowJson } from "../store/compile-row.ts";
import { compile, slot } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import type { OAuthClients } from "./oauth-client-resource.ts";

/** Every client of a tenant, newest first. */
export async function listClients(
  store: Store,
  model: Model,
  tenantId: string,
): Promise<RecordOf<OAuthClients>[]> {
  const clients = model.resource.get("oauthClient")!;
  const statement = compile(
    store.dialect.builder,
    sql`select ${rowJson(store.dialect, "r", wholeRow(clients))} from oauth_clients as r
      where r.tenant_id = ${slot(() => tenantId)} order by r.created_at desc, r.id desc`,
  );
  const rows = await store.database.query(statement, undefined);
  return rows.map(([text]) => JSON.parse(text as string));
}
