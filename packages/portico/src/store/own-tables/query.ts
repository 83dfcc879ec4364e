// Queries on the server's own tables, written with Kysely's typed builder. A query is built once for each database; its
// rows have columns by name and the same JavaScript types on SQLite and PostgreSQL.

import type { Compilable, Kysely, RawBuilder } from "kysely";
import type { ColumnValues, Session, Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { parameter, statementOf } from "../statement.ts";
import type { TenantIdOf, Tenants } from "../tenants.ts";
import {
  type Decoder,
  type ReturnedColumn,
  type RowOf,
  returnedColumns,
  rowFunction,
} from "./row-function.ts";
import { booleanColumns, type DatabaseOf, isTenantColumn, type QueryTable, type TenantId } from "./table.ts";

/** The names of parameters that are the id of a tenant, and are bound to its number. */
const tenantParameters = ["tenantId", "tenant_id"] as const;
type TenantParameter = (typeof tenantParameters)[number];

/** The parameters of a query: the value of each is the member with its name of each call's input. */
export type ParametersOf<Input> = {
  readonly [Name in keyof Input]: RawBuilder<Name extends TenantParameter ? TenantId : Input[Name]>;
};

/** What of a query names tenants. */
interface TenantUse<Input> {
  /** The members of its input that are ids of tenants. */
  readonly members: readonly (keyof Input)[];
  /** The positions of the columns that are numbers of tenants. */
  readonly columns: readonly number[];
}

/** A compiled query. */
export class Query<Row, Input> {
  readonly statement: Statement<Input>;
  readonly #rowOf: RowOf<Row>;
  readonly #tenants: Tenants;
  readonly #use: TenantUse<Input>;
  readonly #knownId: TenantIdOf;

  constructor(statement: Statement<Input>, rowOf: RowOf<Row>, tenants: Tenants, use: TenantUse<Input>) {
    this.statement = statement;
    this.#rowOf = rowOf;
    this.#tenants = tenants;
    this.#use = use;
    // Before a row is made, the tenants in it have been found.
    this.#knownId = (no) => tenants.idOf(no)!;
  }

  /** All rows. */
  all(session: Session, input: Input): Promise<Row[]> {
    return this.#values(session, input).then((rows) => this.#all(session, rows));
  }

  /** The first row, or undefined if there is none. */
  first(session: Session, input: Input): Promise<Row | undefined> {
    return this.#values(session, input).then(([values]) => values && this.#one(session, values));
  }

  /** Runs a query that returns no rows, or whose rows do not matter. */
  async run(session: Session, input: Input): Promise<void> {
    await this.#values(session, input);
  }

  #values(session: Session, input: Input): Promise<readonly ColumnValues[]> {
    // The members in question are texts.
    const ids = this.#use.members.map((member) => input[member] as string);
    const unknown = ids.filter((id) => this.#tenants.numberOf(id) === undefined);
    if (unknown.length === 0) return session.query(this.statement, input);
    const found = Promise.all(unknown.map((id) => this.#tenants.findNumber(session, id)));
    return found.then(() => session.query(this.statement, input));
  }

  #all(session: Session, rows: readonly ColumnValues[]): Row[] | Promise<Row[]> {
    if (!rows.some((values) => this.#hasUnknown(values)))
      return rows.map((values) => this.#rowOf(values, this.#knownId));
    const found = this.#tenants.findIds(
      session,
      rows.flatMap((values) => this.#tenantsIn(values)),
    );
    return found.then((tenantIdOf) => rows.map((values) => this.#rowOf(values, tenantIdOf)));
  }

  #one(session: Session, values: ColumnValues): Row | Promise<Row> {
    if (!this.#hasUnknown(values)) return this.#rowOf(values, this.#knownId);
    const found = this.#tenants.findIds(session, this.#tenantsIn(values));
    return found.then((tenantIdOf) => this.#rowOf(values, tenantIdOf));
  }

  /** Whether a row has a tenant that was not found before. */
  #hasUnknown(values: ColumnValues): boolean {
    for (const column of this.#use.columns) {
      const no = values[column] as number | null;
      if (no !== null && this.#tenants.idOf(no) === undefined) return true;
    }
    return false;
  }

  #tenantsIn(values: ColumnValues): number[] {
    return this.#use.columns.map((column) => values[column] as number | null).filter((no) => no !== null);
  }
}

/** The row type of a query. */
export type QueryRow<Definition> = Definition extends QueryDefinition<infer Row, infer _Input> ? Row : never;

/** Returns a query as it was compiled for the database of a store. */
export type QueryDefinition<Row, Input> = (store: QueryStore) => Query<Row, Input>;

/** What a query needs of the store whose database it is compiled for. */
export interface QueryStore {
  readonly dialect: Dialect;
  readonly tenants: Tenants;
}

/**
 * Defines a query. It names each column that it returns, so that adding a column to a table changes no query. A constant
 * limit is a literal, `limit(sql.lit(1))`: both databases plan a statement with a bound limit worse.
 *
 * @param tables the tables that it uses
 * @param build builds it; annotate its second parameter with the input of a call
 * @example
 * const selectTenant = defineQuery([tenantsTable], (db, input: ParametersOf<{ id: string }>) =>
 *   db.selectFrom("tenants").select(["id", "name"]).where("id", "=", input.id),
 * );
 * const tenant = await selectTenant(store).first(store.database, { id: "tenant_01k..." });
 */
export function defineQuery<const Tables extends readonly QueryTable[], Row, Input = void>(
  tables: Tables,
  build: (db: Kysely<DatabaseOf<Tables>>, input: ParametersOf<Input>, dialect: Dialect) => Compilable<Row>,
  options: Pick<Statement<Input>, "mayScan" | "tenantOf"> = {},
): QueryDefinition<Row, Input> {
  const compiled = new WeakMap<Tenants, Query<Row, Input>>();
  return ({ dialect, tenants }) => {
    const known = compiled.get(tenants);
    if (known) return known;
    // The builder only writes SQL; its type says which tables and columns there are.
    const db = dialect.builder as unknown as Kysely<DatabaseOf<Tables>>;
    const members = new Set<keyof Input>();
    const query = build(db, parametersOf<Input>(dialect, tenants, members), dialect);
    const { statement, rowOf, columns } = compileQuery<Row, Input>(query, dialect, tables, options);
    const bound = new Query(statement, rowOf, tenants, { members: [...members], columns });
    compiled.set(tenants, bound);
    return bound;
  };
}

/**
 * Makes a parameter for each name that a query uses. SQLite stores booleans as 0 and 1.
 *
 * @param members gets the names that are ids of tenants
 */
function parametersOf<Input>(
  { name: database }: Dialect,
  tenants: Tenants,
  members: Set<keyof Input>,
): ParametersOf<Input> {
  const encode = (value: unknown) =>
    typeof value === "boolean" && database === "sqlite" ? Number(value) : value;
  const get = (_target: object, name: string | symbol) => {
    const member = name as keyof Input;
    if (!tenantParameters.includes(name as TenantParameter))
      return parameter((input: Input) => encode(input[member]));
    members.add(member);
    // A tenant that exists has been found before the statement is bound.
    return parameter((input: Input) => tenants.boundNumberOf(input[member] as string));
  };
  return new Proxy({}, { get }) as ParametersOf<Input>;
}

interface CompiledQuery<Row, Input> {
  readonly statement: Statement<Input>;
  readonly rowOf: RowOf<Row>;
  /** The positions of the columns that are numbers of tenants. */
  readonly columns: readonly number[];
}

function compileQuery<Row, Input>(
  query: Compilable<Row>,
  dialect: Dialect,
  tables: readonly QueryTable[],
  options: Pick<Statement<Input>, "mayScan" | "tenantOf">,
): CompiledQuery<Row, Input> {
  const compiled = query.compile();
  const returned = returnedColumns(compiled.query);
  const booleans = new Set(dialect.name === "sqlite" ? tables.flatMap(booleanColumns) : []);
  const decoder = ({ column }: ReturnedColumn): Decoder => {
    if (isTenantColumn(column)) return "tenant";
    return column !== undefined && booleans.has(column) ? "boolean" : "none";
  };
  return {
    statement: statementOf(compiled, options),
    rowOf: rowFunction(returned, decoder),
    columns: returned.flatMap(({ column }, position) => (isTenantColumn(column) ? [position] : [])),
  };
}
