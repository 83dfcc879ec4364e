// The first start of a sandbox: a tenant, a user, rows to look at and a key that opens everything.

import { randomBytes } from "node:crypto";
import type { App } from "../declare/app.ts";
import type { Engine } from "../engine/engine.ts";
import { createKey } from "../identity/api-key.ts";
import { systemCaller } from "../identity/system-caller.ts";
import { createTenant, hasNoTenant } from "../identity/tenant.ts";
import type { Store } from "../store/store.ts";
import { createUser } from "./create-user.ts";

/** Fills an empty sandbox. @returns the key, which is shown this once; undefined where the sandbox is not empty */
export async function fillSandbox(app: App, engine: Engine, store: Store): Promise<string | undefined> {
  if (!(await hasNoTenant(store))) return undefined;
  const { model } = engine;
  const tenant = await createTenant(store, "Sandbox");
  const user = await createUser(engine, store, tenant.id, {
    email: "ada@example.com",
    name: "Ada Lovelace",
    // Nobody needs to know it: a password is set anew by mail.
    password: randomBytes(24).toString("base64url"),
  });
  const caller = systemCaller(model, tenant.id, user.id);
  await engine.together(caller, async (rows) => app.sample?.(rows));
  const { key } = await createKey(store, model, {
    tenantId: tenant.id,
    ownerId: user.id,
    name: "First key",
    scopes: model.scopes,
    type: "secret",
    environment: "test",
  });
  return key;
}

/** What a person reads at the first start. */
export function greeting(app: App, engine: Engine, url: string, key: string): string {
  const shown = engine.model.resources.find(
    (resource) => resource.isServed && !resource.parent && resource.paging === "cursor",
  );
  const collection = `${url}/${shown?.segment ?? "users"}`;
  const authorization = `-H 'Authorization: Bearer ${key}'`;
  return [
    "",
    `${app.name} is running at ${url}, in sandbox mode, with sample data.`,
    "",
    "Your key, shown this once only:",
    "",
    `  ${key}`,
    "",
    "Try it:",
    "",
    `  curl ${collection} ${authorization}`,
    `  curl '${collection}?limit=1&fields=id,createdAt' ${authorization}`,
    `  curl ${url}/users ${authorization}`,
    "",
    "",
  ].join("\n");
}
