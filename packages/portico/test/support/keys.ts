// Helpers for tests of API keys: creates and reads keys, and sets their timestamps.

import { sql } from "kysely";
import type { ApiKeys } from "../../src/auth/api-keys/resource.ts";
import type { RecordOf } from "../../src/declare/record.ts";
import { openStore } from "../../src/store/open.ts";
import { compile, parameter } from "../../src/store/statement.ts";
import { openReader } from "./database-reader.ts";
import type { TestServer } from "./scenario.ts";
import type { RequestOptions, Workspace } from "./server.ts";

export type CreatedKey = RecordOf<ApiKeys> & { readonly key: string; readonly warning: string };

export const dayMs = 86_400_000;
export const inDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

/** Creates a key, by default with the scope `posts:read`. */
export function makeKey(
  server: TestServer,
  body: object = {},
  options?: RequestOptions,
): Promise<CreatedKey> {
  return server.create("/v1/api-keys", { name: "Made", scopes: ["posts:read"], ...body }, options);
}

/** The key as its tenant reads it. */
export async function readKey(server: TestServer, id: string): Promise<RecordOf<ApiKeys>> {
  return (await server.request(`/v1/api-keys/${id}`)).body;
}

/** Whether a request with the key is accepted. */
export async function opens(server: TestServer, key: string, path = "/posts?limit=1"): Promise<boolean> {
  const { status, text } = await server.request(path, { key });
  if (status === 200) return true;
  if (status === 401) return false;
  throw new Error(`the key is neither accepted nor invalid: ${status} ${text}`);
}

/** The tenant that the first start of a sandbox creates. */
export async function firstTenant({ databaseUrl }: Pick<Workspace, "databaseUrl">): Promise<string> {
  const reader = openReader(databaseUrl);
  try {
    const [row] = await reader.rows("select id from tenants order by created_at limit 1");
    return row![0] as string;
  } finally {
    await reader.close();
  }
}

/** Sets a timestamp of a key directly in the database, which no caller can do. */
export async function setTime(
  { databaseUrl }: Pick<Workspace, "databaseUrl">,
  id: string,
  column: "expires_at" | "created_at",
  time: string,
): Promise<void> {
  const store = await openStore(databaseUrl);
  try {
    const update = compile(
      store.dialect.builder,
      sql`update api_keys set ${sql.ref(column)} = ${parameter(() => time)} where id = ${parameter(() => id)}`,
    );
    await store.transaction((session) => session.query(update, undefined));
  } finally {
    await store.database.close();
  }
}
