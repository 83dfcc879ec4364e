// A database of layout 1, as an earlier version made it, and its rows.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { openReader } from "./database-reader.ts";
import { type DatabaseName, makeWorkspace, type Workspace } from "./server.ts";

/** The project of the database. */
export const layout1Folder = join(import.meta.dirname, "../fixtures/layout-1");

interface Recorded {
  readonly tenantId: string;
  readonly key: string;
  readonly email: string;
  readonly password: string;
  readonly answers: Readonly<Record<string, { status: number; etag: string | null; data: unknown }>>;
}

/** Credentials of each tenant, and what the earlier version answered. */
export const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(join(layout1Folder, "answers.json"), "utf8"),
);

export const tablesWithTenant = [
  ...["api_keys", "drafts", "events", "key_usage", "mails", "notes", "oauth_clients", "passwords"],
  ...["remarks", "request_logs", "users"],
];

export async function withLayout1(
  database: DatabaseName,
  work: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  const workspace = await makeWorkspace(database);
  try {
    await load(workspace, database);
    await work(workspace);
  } finally {
    await workspace.remove();
  }
}

async function load({ databaseUrl }: Workspace, database: DatabaseName): Promise<void> {
  const text = readFileSync(join(layout1Folder, `${database}.sql`), "utf8");
  if (database === "sqlite") {
    const file = new DatabaseSync(fileURLToPath(databaseUrl));
    file.exec(text);
    file.close();
    return;
  }
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  await sql.unsafe(text).simple();
  await sql.end();
}

/** Reads rows with the same types from both databases. */
export async function readTexts(
  { databaseUrl }: Pick<Workspace, "databaseUrl">,
  text: string,
): Promise<unknown[][]> {
  const reader = openReader(databaseUrl);
  try {
    return (await reader.rows(text)).map((row) =>
      row.map((value) => (value === null ? null : String(value))),
    );
  } finally {
    await reader.close();
  }
}

const selected: Readonly<Record<string, string>> = {
  events: "r.sequence, r.id, r.row_id, r.resource, r.kind",
  key_usage: "r.key_id, r.minute, r.route, r.count",
  passwords: "r.user_id, r.hash",
  notes: "r.id, r.title, r.body, r.rank, r.detail, r.created_at, r.updated_at",
  drafts: "r.id, r.title",
};
const keys: Readonly<Record<string, string>> = {
  key_usage: "r.minute, r.key_id",
  passwords: "r.user_id",
  events: "r.sequence",
};

/** All rows that belong to tenants, by the id of the tenant. */
export async function rowsOfLayout(
  layout: 1 | 2,
  workspace: Pick<Workspace, "databaseUrl">,
): Promise<unknown[]> {
  const join = layout === 1 ? "t.id = r.tenant_id" : "t.no = r.tenant_no";
  const rows: unknown[] = [];
  for (const table of tablesWithTenant) {
    const columns = selected[table] ?? "r.id, r.created_at, r.updated_at";
    const text = `select t.id, ${columns} from ${table} r join tenants t on ${join} order by t.id, ${keys[table] ?? "r.id"}`;
    rows.push([table, await readTexts(workspace, text)]);
  }
  return rows;
}
