// Fills an empty database with a tenant, a user, a key with all scopes, as many posts as its argument says, and three
// comments for each of them. It prints the key and the ids of the tenant, the user and the posts as JSON, and its
// progress to standard error.

import { systemCaller } from "../packages/portico/src/auth/system-caller.ts";
import { createTenant } from "../packages/portico/src/auth/tenants/tenant.ts";
import { createUser } from "../packages/portico/src/cli/create-user.ts";
import { Engine } from "../packages/portico/src/engine/engine.ts";
import { assemble, withStore } from "../packages/portico/src/runtime/compose.ts";
import { migrate } from "../packages/portico/src/store/schema/migrate.ts";
import type { Store } from "../packages/portico/src/store/store.ts";
import { insertRows } from "./insert-rows.ts";
import { postOf } from "./post.ts";

export interface Filled {
  readonly key: string;
  readonly tenantId: string;
  /** How its rows name the tenant. */
  readonly tenantNo: number;
  /** The author of all rows, and the owner of the key. */
  readonly userId: string;
  readonly ids: readonly string[];
}

/** Requests are counted as usual, but the quota is never exceeded. */
const unlimitedQuota = { limit: 100_000_000, windowSeconds: 60 };
const postIntervalMs = 60_000;
const commentsPerPost = 3;

const count = Number(process.argv[2]);
const assembly = await assemble({ folder: process.cwd(), environment: process.env });
const { model, tables } = assembly;
const posts = model.resource.get("post")!;
const comments = model.resource.get("comment")!;

const filled = await withStore(assembly, async (store) => {
  await migrate(store, tables);
  const tenant = await createTenant(store, "Bench");
  const engine = new Engine(model, store);
  const user = await createUser(engine, store, tenant.id, {
    email: "bench@example.com",
    name: "Bench",
    password: "a password that nobody uses",
  });
  const body = { name: "Bench", scopes: model.scopes, rateLimit: unlimitedQuota, ownerId: user.id };
  const created = await engine.create(systemCaller(model, tenant.id), model.resource.get("apiKey")!, body);
  const ids = await insertPosts(store, tenant.id, user.id);
  await insertComments(store, tenant.id, user.id, ids);
  // PostgreSQL would do this automatically within minutes, in the middle of the measurement.
  if (store.dialect.name === "postgres") await store.database.run("vacuum analyze");
  return {
    key: String(created.returnedOnce?.key),
    tenantId: tenant.id,
    tenantNo: (await store.tenants.findNumber(store.database, tenant.id))!,
    userId: user.id,
    ids,
  } satisfies Filled;
});
process.stdout.write(JSON.stringify(filled));

async function insertPosts(store: Store, tenantId: string, authorId: string): Promise<string[]> {
  const first = Date.now() - count * postIntervalMs;
  return insertRows(store, posts, tenantId, count, (number) => {
    const createdAt = new Date(first + number * postIntervalMs).toISOString();
    return { ...postOf(number), authorId, createdAt, updatedAt: createdAt };
  });
}

async function insertComments(
  store: Store,
  tenantId: string,
  authorId: string,
  postIds: readonly string[],
): Promise<void> {
  const createdAt = new Date().toISOString();
  await insertRows(store, comments, tenantId, postIds.length * commentsPerPost, (number) => {
    const { title: body } = postOf(number);
    return { body, postId: postIds[number % postIds.length]!, authorId, createdAt, updatedAt: createdAt };
  });
}
