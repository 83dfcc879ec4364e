// Tenants by number. The rows of all tables, and so the entries of their indexes, hold the number of their tenant, which
// takes a byte or two where its id takes 33. Outside the store a tenant has its id only. Both are fixed once the tenant
// exists, so they are cached without limit of time: each is read once, also for a tenant that another process creates.

import { sql } from "kysely";
import type { ColumnValues, Session, Statement } from "./database.ts";
import type { Dialect } from "./dialect.ts";
import { ownTable } from "./own-tables/table.ts";
import { compile, parameter } from "./statement.ts";

/** Neither database gives out a number of the sequence again. */
export const tenantsTable = ownTable(
  "tenants",
  { no: "sequence", id: "text", name: "text", created_at: "timestamp" },
  { primaryKey: ["no"], indexes: [{ columns: ["id"], isUnique: true }] },
);

/** The id of the tenant with a number. */
export type TenantIdOf = (no: number) => string;

export class Tenants {
  readonly #database: Session;
  readonly #numbers = new Map<string, number>();
  readonly #ids = new Map<number, string>();
  /** Numbers that only transactions have read. Each transaction reads them again. */
  readonly #uncommitted = new Map<string, number>();
  readonly #selectById: Statement<string>;
  readonly #selectByNumber: Statement<number>;

  constructor({ builder }: Dialect, database: Session) {
    this.#database = database;
    const select = sql`select no, id from tenants where`;
    this.#selectById = compile(builder, sql`${select} id = ${parameter((id: string) => id)}`);
    this.#selectByNumber = compile(builder, sql`${select} no = ${parameter((no: number) => no)}`);
  }

  /** The number of a tenant that was found before. */
  numberOf(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  /**
   * The number to bind in a statement, whose transaction has just found the tenant if it was not found before; null for a
   * tenant that does not exist.
   */
  boundNumberOf(id: string): number | null {
    return this.#numbers.get(id) ?? this.#uncommitted.get(id) ?? null;
  }

  /**
   * Reads the number of a tenant; null if there is none. A parameter that is null equals no column, and no row can be
   * inserted with it.
   *
   * @param session may be a transaction that has created the tenant
   */
  async findNumber(session: Session, id: string): Promise<number | null> {
    const [row] = await session.query(this.#selectById, id);
    if (!row) {
      this.#uncommitted.delete(id);
      return null;
    }
    const no = row[0] as number;
    this.#keep(session, no, id);
    return no;
  }

  /** The id of a tenant that was found before. */
  idOf(no: number): string | undefined {
    return this.#ids.get(no);
  }

  /**
   * Finds the ids of tenants, and reads those that were not found before.
   *
   * @param numbers of the tenants of some rows, with repetitions
   * @param session where the rows were read
   */
  async findIds(session: Session, numbers: Iterable<number>): Promise<TenantIdOf> {
    const found = new Map<number, string>();
    for (const no of new Set(numbers)) {
      if (this.#ids.has(no)) continue;
      const [row]: readonly ColumnValues[] = await session.query(this.#selectByNumber, no);
      const id = row?.[1] as string | undefined;
      if (id === undefined) continue;
      found.set(no, id);
      this.#keep(session, no, id);
    }
    // No caller has the empty id: rows that a deleted tenant has left behind belong to nobody.
    return (no) => this.#ids.get(no) ?? found.get(no) ?? "";
  }

  /** A transaction may be rolled back. SQLite then gives the number to another tenant. */
  #keep(session: Session, no: number, id: string): void {
    if (session !== this.#database) {
      this.#uncommitted.set(id, no);
      return;
    }
    this.#uncommitted.delete(id);
    this.#ids.set(no, id);
    this.#numbers.set(id, no);
  }
}
