// Copies the tables of a PostgreSQL database of layout 1 into a schema of their own. As on SQLite, the catalogue describes
// them and not the declarations: what the declarations change is left to the migration that follows.

import type { Maintenance, Session } from "../database.ts";
import { type CopyProgress, quoted, refuseOrphans, withTenantNumber } from "./change.ts";

/** Blocks of 8 KiB that one statement copies. */
const blocksPerBatch = 2_000;
const createTenants = `
  create table tenants (no bigint generated always as identity primary key, id text collate "C" not null,
    name text collate "C" not null, created_at timestamptz(3) not null);
  create unique index portico_tenants_id on tenants (id)`;

/** The schema of the tables, and the one that the copies are made in. */
export interface Schemas {
  readonly current: string;
  readonly next: string;
}

/** A constraint of an existing table. */
interface Constraint {
  readonly table: string;
  readonly name: string;
  /** `foreign key (...) references ...` */
  readonly definition: string;
}

/** Keys and references, with the number of the tenant; keys come first. */
export async function constraintsOf(session: Session, tables: readonly string[]): Promise<Constraint[]> {
  const constraints = await run(
    session,
    `select t.relname, c.conname, pg_get_constraintdef(c.oid) from pg_constraint c join pg_class t on t.oid = c.conrelid
     where c.connamespace = current_schema()::regnamespace and c.contype in ('p', 'u', 'c', 'f')
     order by c.contype = 'f', c.conname`,
  );
  return constraints
    .filter(([table]) => tables.includes(table!))
    .map(([table, name, definition]) => ({
      table: table!,
      name: name!,
      definition: withTenantNumber(definition!),
    }));
}

/** Copies the tables into a schema of their own, on a connection that looks up names in it. @returns the number of rows */
export async function fillSchema(
  session: Maintenance,
  schemas: Schemas,
  changed: readonly string[],
  constraints: readonly Constraint[],
  onProgress: CopyProgress,
): Promise<number> {
  const [current, next] = [quoted(schemas.current), quoted(schemas.next)];
  // What an interrupted change has left behind.
  await session.run(`drop schema if exists ${next} cascade; create schema ${next}`);
  // If the server stops, the copies are made again.
  await session.run(`set synchronous_commit = off; ${createTenants};
    insert into tenants (id, name, created_at)
      select id, name, created_at from ${current}.tenants order by created_at, id`);
  const blocks = new Map<string, number>();
  for (const table of changed) blocks.set(table, await blocksOf(session, schemas, table));
  const total = [...blocks.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  let rows = 0;
  for (const [table, count] of blocks) {
    rows += await copyRows(session, schemas, table, count, (block) =>
      onProgress(table, total === 0 ? 1 : (done + block) / total),
    );
    done += count;
  }
  for (const { table, name, definition } of constraints)
    await session.run(`alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`);
  await session.run(`analyze ${["tenants", ...changed].map(quoted).join(", ")}`);
  return rows;
}

async function blocksOf(session: Session, { current }: Schemas, table: string): Promise<number> {
  const name = literal(`${quoted(current)}.${quoted(table)}`);
  const [row] = await run(session, `select pg_relation_size(${name}::regclass) / 8192`);
  return Number(row![0]);
}

/** @returns the number of rows */
async function copyRows(
  session: Maintenance,
  { current }: Schemas,
  table: string,
  blocks: number,
  onBatch: (block: number) => void,
): Promise<number> {
  const [source, target] = [`${quoted(current)}.${quoted(table)}`, quoted(table)];
  await session.run(`create table ${target}
      (like ${source} including defaults including identity including storage including compression);
    alter table ${target} rename column tenant_id to tenant_no;
    alter table ${target} alter column tenant_no type integer using 0`);
  const attributes = await run(
    session,
    `select attname, attidentity::text from pg_attribute where attrelid = ${literal(source)}::regclass and attnum > 0 and not attisdropped`,
  );
  const columns = attributes.map(([name]) => name!);
  const names = columns.map((name) => quoted(name === "tenant_id" ? "tenant_no" : name)).join(", ");
  const values = columns.map((name) => {
    if (name === "tenant_id") return "t.no";
    // The words contain the tenant. The migration recomputes them.
    return name === "search_words" ? "''" : `r.${quoted(name)}`;
  });
  for (let block = 0; block < blocks; block += blocksPerBatch) {
    await session.run(`insert into ${target} (${names}) overriding system value select ${values.join(", ")}
      from ${source} as r join tenants as t on t.id = r.tenant_id
      where r.ctid >= '(${block},0)' and r.ctid < '(${block + blocksPerBatch},0)'`);
    onBatch(Math.min(block + blocksPerBatch, blocks));
  }
  const numbered = attributes.find(([, identity]) => identity !== "");
  if (numbered) await copySequence(session, source, target, numbered[0]!);
  const [counts] = await run(
    session,
    `select (select count(*) from ${target})::text, (select count(*) from ${source})::text`,
  );
  const [copied, existing] = counts!.map(Number) as [number, number];
  refuseOrphans(table, copied, existing);
  return copied;
}

/** The copy continues with the number after the last one that was given out. */
async function copySequence(session: Session, source: string, target: string, column: string): Promise<void> {
  const sequenceOf = (table: string): string =>
    `pg_get_serial_sequence(${literal(table)}, ${literal(column)})`;
  await run(
    session,
    `select setval(${sequenceOf(target)}::regclass, last) from pg_sequence_last_value(${sequenceOf(source)}::regclass) as last
     where last is not null`,
  );
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Runs a statement whose columns are texts. */
export async function run(session: Session, text: string): Promise<readonly (readonly (string | null)[])[]> {
  // They are texts.
  return (await session.query({ sql: text, bind: () => [] }, undefined)) as readonly (readonly (
    | string
    | null
  )[])[];
}
