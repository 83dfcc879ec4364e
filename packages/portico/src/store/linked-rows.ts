// Finds the rows that refer to a row by a many-to-many field, and locks rows that refer to a row.

import { sql } from "kysely";
import type { Dependent } from "../model/model.ts";
import type { Session, Statement } from "./database.ts";
import type { Dialect, Lock } from "./dialect.ts";
import { elementColumn, elementTableName } from "./schema/element-table.ts";
import { Shapes } from "./shapes.ts";
import { compile, parameter } from "./statement.ts";
import type { Tenants } from "./tenants.ts";

interface Linked {
  readonly tenantNo: number | null;
  readonly id: string;
}

/** Rows that one statement finds. */
const batchSize = 100;

export class LinkedRows {
  readonly #dialect: Dialect;
  readonly #tenants: Tenants;
  readonly #statements = new Shapes<Statement<Linked>>();
  readonly #locking = new Shapes<Statement<Linked>>();

  constructor(dialect: Dialect, tenants: Tenants) {
    this.#dialect = dialect;
    this.#tenants = tenants;
  }

  /** The ids of some of the rows whose many-to-many field has an id; none if no row has it. */
  async ids(
    session: Session,
    tenantId: string,
    { resource, attribute }: Dependent,
    id: string,
  ): Promise<readonly string[]> {
    const statement = this.#statements.get(resource, attribute.name, () =>
      compile<Linked>(
        this.#dialect.builder,
        sql`select id from ${sql.table(elementTableName(resource, attribute))}
          where tenant_no = ${parameter((linked: Linked) => linked.tenantNo)}
          and ${sql.ref(elementColumn)} = ${parameter((linked: Linked) => linked.id)} limit ${sql.lit(batchSize)}`,
      ),
    );
    const tenantNo = await this.#tenants.findNumber(session, tenantId);
    const rows = await session.query(statement, { tenantNo, id });
    return rows.map(([found]) => found as string);
  }

  /** Locks the rows whose reference or many-to-many field has an id, in the order of their ids; at most `limit`. */
  async lock(
    session: Session,
    tenantId: string,
    { resource, attribute }: Dependent,
    id: string,
    { lock, limit }: { readonly lock: Lock; readonly limit: number },
  ): Promise<void> {
    const statement = this.#locking.get(resource, `${attribute.name}|${lock}|${limit}`, () => {
      const tenantNo = parameter((linked: Linked) => linked.tenantNo);
      const referred = parameter((linked: Linked) => linked.id);
      const isReferring = attribute.links
        ? sql`id in (select id from ${sql.table(elementTableName(resource, attribute))}
            where tenant_no = ${tenantNo} and ${sql.ref(elementColumn)} = ${referred})`
        : sql`${sql.ref(attribute.column)} = ${referred}`;
      return compile<Linked>(
        this.#dialect.builder,
        sql`select id from ${sql.table(resource.table)} where tenant_no = ${tenantNo} and ${isReferring}
          order by id limit ${sql.lit(limit)}${this.#dialect.locks[lock]}`,
      );
    });
    const tenantNo = await this.#tenants.findNumber(session, tenantId);
    await session.query(statement, { tenantNo, id });
  }
}
