// The numbers of tenants that a transaction has read, and that was rolled back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hasNoTenant, insertTenant } from "../../src/auth/tenants/tenant.ts";
import { app } from "../../src/declare/app.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";

onEachDatabase("the number of a tenant", (database) => {
  test("is forgotten with the transaction that created it, and never that of another tenant", async () => {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    try {
      await migrate(store, tablesOf(buildModel(app({ name: "Empty", resources: [] }), []), [tenantsTable]));
      let rolledBack = "";
      const creation = store.transaction(async (session) => {
        assert.equal(await hasNoTenant(store, session), true);
        ({ id: rolledBack } = await insertTenant(store, session, "Rolled back"));
        assert.equal(typeof (await store.tenants.findNumber(session, rolledBack)), "number");
        throw new Error("rolled back");
      });
      await assert.rejects(creation, /rolled back/);
      const tenant = await store.transaction((session) => insertTenant(store, session, "Acme"));
      const number = await store.tenants.findNumber(store.database, tenant.id);
      assert.equal(typeof number, "number");
      assert.equal(store.tenants.numberOf(rolledBack), undefined);
      assert.equal(await store.tenants.findNumber(store.database, rolledBack), null);
      assert.equal(store.tenants.boundNumberOf(rolledBack), null);
      assert.equal(store.tenants.idOf(number!), tenant.id);
      assert.equal(store.tenants.numberOf(newId("tenant")), undefined);
    } finally {
      await store.database.close();
      await workspace.remove();
    }
  });
});
