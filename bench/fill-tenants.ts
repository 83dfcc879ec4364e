// Fills an empty database with as many posts as its argument says, a hundredth of them in each of 100 tenants, which write
// in turn. It prints a key of one of the tenants as JSON.

import { systemCaller } from "../packages/portico/src/auth/system-caller.ts";
import { createTenant } from "../packages/portico/src/auth/tenants/tenant.ts";
import { createUser } from "../packages/portico/src/cli/create-user.ts";
import { Engine } from "../packages/portico/src/engine/engine.ts";
import { newId } from "../packages/portico/src/lib/id.ts";
import { assemble, withStore } from "../packages/portico/src/runtime/compose.ts";
import { migrate } from "../packages/portico/src/store/schema/migrate.ts";
import { postOf } from "./post.ts";

export interface FilledTenants {
  readonly key: string;
}

const tenantCount = 100;
const unlimitedQuota = { limit: 100_000_000, windowSeconds: 60 };
const intervalMs = 60_000;

const postsOfTenant = Math.ceil(Number(process.argv[2]) / tenantCount);
const assembly = await assemble({ folder: process.cwd(), environment: process.env });
const { model, tables } = assembly;
const resource = model.resource.get("post")!;

const filled = await withStore(assembly, async (store) => {
  await migrate(store, tables);
  const engine = new Engine(model, store);
  const tenants: { tenantId: string; authorId: string }[] = [];
  for (let number = 0; number < tenantCount; number += 1) {
    const tenant = await createTenant(store, `Bench ${number}`);
    const email = `bench.${number}@example.com`;
    const person = { email, name: "Bench", password: "a password that nobody uses" };
    const user = await createUser(engine, store, tenant.id, person);
    tenants.push({ tenantId: tenant.id, authorId: user.id });
  }
  const first = Date.now() - postsOfTenant * intervalMs;
  for (let number = 0; number < postsOfTenant; number += 1) {
    const createdAt = new Date(first + number * intervalMs).toISOString();
    await store.transaction((session) =>
      Promise.all(
        tenants.map(({ tenantId, authorId }) => {
          const times = { createdAt, updatedAt: createdAt };
          const values = { ...postOf(number), ...times, authorId, id: newId(resource.idPrefix) };
          return store.writes.insert(session, { resource, tenantId, values });
        }),
      ),
    );
  }
  // PostgreSQL would do this automatically within minutes, in the middle of the measurement.
  if (store.dialect.name === "postgres") await store.database.run("vacuum analyze");
  const { tenantId, authorId: ownerId } = tenants[tenantCount / 2]!;
  const body = { name: "Bench", scopes: ["posts:read"], rateLimit: unlimitedQuota, ownerId };
  const created = await engine.create(systemCaller(model, tenantId), model.resource.get("apiKey")!, body);
  return { key: String(created.returnedOnce?.key) } satisfies FilledTenants;
});
process.stdout.write(JSON.stringify(filled));
