// Encrypts the secrets of endpoints again after PORTICO_SECRET was replaced, so that its old value can be removed.

import { sql } from "kysely";
import type { Encryption } from "../lib/encryption.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import type { OfEndpoint } from "./endpoint-queue.ts";
import { endpointsTable } from "./endpoints-table.ts";
import type { StoredSecret } from "./secret.ts";

const readTogether = 500;

const selectPage = defineQuery([endpointsTable], (db, { after }: ParametersOf<{ after: string }>) =>
  db
    .selectFrom("webhook_endpoints")
    .select(["tenant_no as tenantId", "id", sql<string>`secrets`.as("secrets")])
    .where("id", ">", after)
    .orderBy("id")
    .limit(sql.lit(readTogether)),
);

interface Renewal extends OfEndpoint {
  readonly before: string;
  readonly after: string;
}

/** Replaces the secrets, unless they have changed since they were read. */
const updateSecrets = defineQuery(
  [endpointsTable],
  (db, { tenantId, endpointId, before, after }: ParametersOf<Renewal>) =>
    db
      .updateTable("webhook_endpoints")
      .set({ secrets: after })
      .where("tenant_no", "=", tenantId)
      .where("id", "=", endpointId)
      .where(sql<string>`cast(secrets as text)`, "=", before),
);

/** Encrypts with the first value of PORTICO_SECRET what is encrypted with another one. What no value decrypts is left. */
export async function renewSecrets(store: Store, encryption: Encryption): Promise<void> {
  for (let after = ""; ; ) {
    const page = await selectPage(store).all(store.database, { after });
    for (const { tenantId, id: endpointId, secrets } of page) {
      const stored: readonly StoredSecret[] = JSON.parse(secrets);
      const renewed = stored.map((each) => ({
        ...each,
        encrypted: encryption.renew(each.encrypted) ?? each.encrypted,
      }));
      if (renewed.every(({ encrypted }, index) => encrypted === stored[index]!.encrypted)) continue;
      const values = { tenantId, endpointId, before: secrets, after: JSON.stringify(renewed) };
      await store.transaction((session) => updateSecrets(store).run(session, values));
    }
    const last = page.at(-1);
    if (page.length < readTogether || !last) return;
    after = last.id;
  }
}
