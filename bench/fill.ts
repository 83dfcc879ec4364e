// A process that fills an empty database: a tenant, its user, a key with all scopes, and posts, the number of
// which it is given. It prints the key, the tenant's id and those of the posts as JSON, and how far it is to standard error.

import { systemCaller } from "../packages/portico/src/auth/system-caller.ts";
import { createTenant } from "../packages/portico/src/auth/tenants/tenant.ts";
import { createUser } from "../packages/portico/src/cli/create-user.ts";
import { Engine } from "../packages/portico/src/engine/engine.ts";
import { newId } from "../packages/portico/src/lib/id.ts";
import type { RowValues } from "../packages/portico/src/query/write.ts";
import { assemble, withStore } from "../packages/portico/src/runtime/compose.ts";
import { migrate } from "../packages/portico/src/store/schema/migrate.ts";
import type { Store } from "../packages/portico/src/store/store.ts";
import { postOf } from "./post.ts";

export interface Filled {
  readonly key: string;
  readonly tenantId: string;
  readonly ids: readonly string[];
}

/** Counted like any other, and never used up. */
const plentiful = { limit: 100_000_000, windowSeconds: 60 };
/** Rows in one transaction. */
const group = 1_000;
const reportEvery = 20_000;
const betweenPostsMs = 60_000;

const count = Number(process.argv[2]);
const assembly = await assemble({ folder: process.cwd(), environment: process.env });
const { model, tables } = assembly;
const posts = model.resource.get("post")!;

const filled = await withStore(assembly, async (store) => {
  await migrate(store, tables);
  const tenant = await createTenant(store, "Bench");
  const engine = new Engine(model, store);
  const user = await createUser(engine, store, tenant.id, {
    email: "bench@example.com",
    name: "Bench",
    password: "a password that nobody uses",
  });
  const body = { name: "Bench", scopes: model.scopes, rateLimit: plentiful, ownerId: user.id };
  const made = await engine.create(systemCaller(model, tenant.id), model.resource.get("apiKey")!, body);
  const ids = await insertPosts(store, tenant.id, user.id);
  // What PostgreSQL does by itself within minutes must not fall into the measurement.
  if (store.dialect.name === "postgres") await store.database.run("vacuum analyze");
  return { key: String(made.returnedOnce?.key), tenantId: tenant.id, ids } satisfies Filled;
});
process.stdout.write(JSON.stringify(filled));

async function insertPosts(store: Store, tenantId: string, authorId: string): Promise<string[]> {
  const ids: string[] = [];
  const first = Date.now() - count * betweenPostsMs;
  while (ids.length < count) {
    const rows = Array.from({ length: Math.min(group, count - ids.length) }, (_, place): RowValues => {
      const number = ids.length + place;
      const createdAt = new Date(first + number * betweenPostsMs).toISOString();
      return { ...postOf(number), id: newId(posts.idPrefix), authorId, createdAt, updatedAt: createdAt };
    });
    await store.transaction((session) =>
      Promise.all(rows.map((values) => store.insert(session, { resource: posts, tenantId, values }))),
    );
    for (const { id } of rows) ids.push(String(id));
    if (ids.length % reportEvery === 0 || ids.length === count) {
      process.stderr.write(`  ${ids.length} of ${count} posts\n`);
    }
  }
  return ids;
}
