// Slow reads of anonymous callers wait apart from those of the tenant's credentials, so they hold up each other only.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import type { Caller } from "../../src/declare/caller.ts";
import { text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { Engine } from "../../src/engine/engine.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { wholeRow } from "../../src/query/selection.ts";
import { newestFirst } from "../../src/query/sort.ts";
import type { Database } from "../../src/store/database.ts";
import { ReadRecorder } from "../../src/store/explain/recorded-reads.ts";
import { sqliteDialect } from "../../src/store/sqlite/dialect.ts";
import { Store } from "../../src/store/store.ts";

const posts = resource("post", {
  fields: { title: text({ max: 100 }) },
  policy: ({ caller }) => caller.kind !== "anonymous" || { title: "public" },
  search: ["title"],
  public: ["list", "get"],
});
const notes = resource("note", { fields: { title: text({ max: 100 }) }, public: ["list", "get"] });
const model = buildModel(app({ name: "Site", resources: [posts, notes] }), []);

const tenantId = "tenant_00000000000000000000000000";
const owner: Caller = {
  ...{ kind: "key", tenantId, userId: null, role: null, credentialId: "api_key_1", keyId: "api_key_1" },
  scopes: new Set(model.scopes),
};
/** Answers only with the number of the tenant. */
const database = { isRemote: false, query: async () => [[1, tenantId]] } as unknown as Database;
const callers: Readonly<Record<string, Caller>> = {
  "a secret key": owner,
  "a publishable key": { ...owner, kind: "anonymous", scopes: new Set() },
  "no credential": { ...owner, kind: "anonymous", keyId: undefined, scopes: new Set() },
};

for (const [who, caller] of Object.entries(callers))
  test(`a read of ${who} takes its turn among ${who === "a secret key" ? "those of the tenant" : "anonymous ones"}`, async () => {
    const recorder = new ReadRecorder();
    const store = new Store(sqliteDialect, database, recorder.record);
    const engine = new Engine(model, store);
    for (const each of model.resources) {
      const selection = wholeRow(each);
      const words = each.search.length > 0 ? ["word"] : [];
      const page = { style: "first", limit: 10 } as const;
      const list = {
        resource: each,
        within: undefined,
        selection,
        conditions: [],
        words,
        sort: newestFirst(each),
        page,
      };
      await engine.list(caller, list);
      await engine.get(caller, {
        resource: each,
        selection,
        id: "post_00000000000000000000000000",
        conditions: [],
      });
    }
    const turns = new Set(
      recorder.reads.map(({ statements, input }) =>
        statements.plain.tenantOf!(input as Parameters<NonNullable<typeof statements.plain.tenantOf>>[0]),
      ),
    );
    assert.deepEqual([...turns], [caller.kind === "anonymous" ? `${tenantId} anonymous` : tenantId]);
    assert.ok(recorder.reads.length >= 4);
  });
