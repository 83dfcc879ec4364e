// Fills a sandbox at its first start: a tenant, a user, the rows of `seed` and a key with all scopes.

import { randomBytes } from "node:crypto";
import type { ApiKeys } from "../auth/api-keys/resource.ts";
import { systemCaller } from "../auth/system-caller.ts";
import { hasNoTenant, insertTenant } from "../auth/tenants/tenant.ts";
import { hashPassword, setPassword } from "../auth/users/password.ts";
import { users } from "../auth/users/resource.ts";
import type { App } from "../declare/app.ts";
import { everyScope } from "../declare/roles.ts";
import type { Rows } from "../declare/rows.ts";
import type { Engine } from "../engine/engine.ts";
import { OperatorError, Problem } from "../errors.ts";
import type { Store } from "../store/store.ts";
import type { Settings } from "./settings/settings.ts";

/** Fills an empty sandbox. @returns the key, which cannot be shown again; undefined if the sandbox is not empty */
export async function fillSandbox(
  app: App,
  engine: Engine,
  store: Store,
  apiKeys: ApiKeys,
): Promise<string | undefined> {
  const { model } = engine;
  return store.transaction(async (session) => {
    if (!(await hasNoTenant(store, session))) return undefined;
    const tenant = await insertTenant(store, session, "Sandbox");
    const userModel = engine.rowsIn(session, systemCaller(model, tenant.id));
    const user = await userModel.create(users, { email: "ada@example.com", name: "Ada Lovelace" });
    // A random password that nobody knows; the user can reset it by email.
    const password = await hashPassword(randomBytes(24).toString("base64url"));
    await setPassword(store, session, { tenantId: tenant.id, userId: user.id }, password);
    const rows = engine.rowsIn(session, systemCaller(model, tenant.id, user.id));
    await runSeed(app, rows);
    const key = await rows.create(apiKeys, { name: "First key", scopes: [everyScope] });
    // A hook of the resource adds the key to the result of `create`.
    return (key as { key?: string }).key;
  });
}

async function runSeed({ seed }: App, rows: Rows): Promise<void> {
  try {
    await seed?.(rows);
  } catch (error) {
    if (error instanceof Problem) throw new OperatorError(`the seed of portico.config.ts: ${error.message}`);
    throw error;
  }
}

/** What a text about a server needs. */
interface StartedServer {
  readonly assembly: { readonly app: App; readonly settings: Pick<Settings, "servesDocs"> };
  readonly engine: Engine;
  readonly url: string;
}

/** The text that is printed at the first start. */
export function greeting({ assembly, engine, url }: StartedServer, key: string): string {
  const { app, settings } = assembly;
  const declared = app.resources.map(({ name }) => engine.model.resource.get(name)!);
  const example = declared.find(
    (resource) => resource.isExposed && !resource.parent && resource.paging === "cursor",
  );
  const collection = `${url}/${example?.segment ?? "users"}`;
  const authorization = `-H 'Authorization: Bearer ${key}'`;
  return [
    "",
    `${app.name} is running at ${url}, in sandbox mode${app.seed ? ", with sample data" : ""}.`,
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
    ...(settings.servesDocs ? [`Reference of your API: ${url}/docs`, ""] : []),
    "",
  ].join("\n");
}
