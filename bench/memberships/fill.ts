// Fills an empty database with 5,000 plans and 5,000 projects, each of which has 20 of 5,000 people as its members:
// 100,000 memberships. One more person is a member of half of the projects. It prints a key of one of the 5,000 and a
// key of that person as JSON, and its progress to standard error.

import { systemCaller } from "../../packages/portico/src/auth/system-caller.ts";
import { createTenant } from "../../packages/portico/src/auth/tenants/tenant.ts";
import { Engine } from "../../packages/portico/src/engine/engine.ts";
import type { RowValues } from "../../packages/portico/src/query/write.ts";
import { assemble, withStore } from "../../packages/portico/src/runtime/compose.ts";
import { migrate } from "../../packages/portico/src/store/schema/migrate.ts";
import { insertRows } from "../insert-rows.ts";

export interface FilledMemberships {
  /** Of a person who is a member of 20 projects. */
  readonly memberOfFew: string;
  /** Of a person who is a member of half of the projects. */
  readonly memberOfMany: string;
}

const people = 5_000;
const projectCount = 5_000;
const membersOfEach = 20;
const intervalMs = 60_000;
const unlimitedQuota = { limit: 100_000_000, windowSeconds: 60 };

const assembly = await assemble({ folder: import.meta.dirname, environment: process.env });
const { model, tables } = assembly;
const of = (name: string) => model.resource.get(name)!;

const filled = await withStore(assembly, async (store) => {
  await migrate(store, tables);
  const tenant = await createTenant(store, "Bench");
  const first = Date.now() - projectCount * intervalMs;
  const dated = (number: number, values: RowValues): RowValues => {
    const createdAt = new Date(first + number * intervalMs).toISOString();
    return { ...values, createdAt, updatedAt: createdAt };
  };
  const insert = (name: string, total: number, valuesOf: (number: number) => RowValues): Promise<string[]> =>
    insertRows(store, of(name), tenant.id, total, (number) => dated(number % projectCount, valuesOf(number)));
  const userIds = await insert("user", people + 1, (number) => ({
    ...{ name: `Person ${number}`, email: `person.${number}@example.com`, role: "member", active: true },
  }));
  const named = (number: number): RowValues => ({ name: `The ${number}th of its kind` });
  await insert("plan", projectCount, named);
  const projectIds = await insert("project", projectCount, named);
  // The projects of a person are spread over all of them.
  await insert("member", projectCount * membersOfEach, (number) => ({
    projectId: projectIds[number % projectCount],
    userId: userIds[((number % projectCount) + 251 * Math.floor(number / projectCount)) % people],
  }));
  await insert("member", projectCount / 2, (number) => ({
    projectId: projectIds[number * 2],
    userId: userIds.at(-1),
  }));
  // PostgreSQL would do this automatically within minutes, in the middle of the measurement.
  if (store.dialect.name === "postgres") await store.database.run("vacuum analyze");
  const engine = new Engine(model, store);
  const keyOf = async (ownerId: string | undefined): Promise<string> => {
    const scopes = ["plans:read", "projects:read"];
    const body = { name: "Bench", scopes, rateLimit: unlimitedQuota, ownerId };
    const created = await engine.create(systemCaller(model, tenant.id), of("apiKey"), body);
    return String(created.returnedOnce?.key);
  };
  return {
    memberOfFew: await keyOf(userIds[0]),
    memberOfMany: await keyOf(userIds.at(-1)),
  } satisfies FilledMemberships;
});
process.stdout.write(JSON.stringify(filled));
