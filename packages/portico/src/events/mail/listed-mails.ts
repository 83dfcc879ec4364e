// The mails of a tenant as the commands show them.

import { sql } from "kysely";
import type { Model } from "../../declare/model.ts";
import type { RecordOf } from "../../declare/record.ts";
import { OperatorError } from "../../errors.ts";
import { isId } from "../../plan/id.ts";
import { select } from "../../plan/selection.ts";
import { rowJson } from "../../store/compile-row.ts";
import { compile, slot } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import { mails } from "./mail.ts";

const shown = [
  "id",
  "to",
  "subject",
  "kind",
  "status",
  "text",
  "html",
  "createdAt",
  "sentAt",
  "attempts",
  "lastError",
] as const;

export type ListedMail = Pick<RecordOf<typeof mails>, (typeof shown)[number]>;

/** The newest mails of a tenant, newest first. */
export function listMails(
  store: Store,
  model: Model,
  tenantId: string,
  limit: number,
): Promise<ListedMail[]> {
  return find(store, model, tenantId, sql`order by r.created_at desc, r.id desc limit ${sql.lit(limit)}`);
}

/** @throws OperatorError where the tenant has no such mail */
export async function findMail(
  store: Store,
  model: Model,
  tenantId: string,
  id: string,
): Promise<ListedMail> {
  const [mail] = isId(id) ? await find(store, model, tenantId, sql`and r.id = ${slot(() => id)}`) : [];
  if (mail) return mail;
  throw new OperatorError(`there is no mail ${id}; see: portico mail list`);
}

async function find(
  store: Store,
  model: Model,
  tenantId: string,
  which: ReturnType<typeof sql>,
): Promise<ListedMail[]> {
  const { attribute } = model.resource.get(mails.name)!;
  const selection = select(
    shown.map((name) => attribute.get(name)!),
    [],
  );
  const statement = compile(
    store.dialect.builder,
    sql`select ${rowJson(store.dialect, "r", selection)} from mails as r
      where r.tenant_id = ${slot(() => tenantId)} ${which}`,
  );
  const rows = await store.database.query(statement, undefined);
  return rows.map(([text]) => JSON.parse(text as string));
}
