// Queries on the server's own tables, written with Kysely's typed builder. A query is built once for each database; its
// rows have columns by name and the same JavaScript types on SQLite and PostgreSQL.

import {
  AliasNode,
  ColumnNode,
  type Compilable,
  IdentifierNode,
  type Kysely,
  type OperationNode,
  type RawBuilder,
  ReferenceNode,
  type RootOperationNode,
  SelectQueryNode,
} from "kysely";
import type { ColumnValues, Session, Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { parameter, statementOf } from "../statement.ts";
import { booleanColumns, type DatabaseOf, type QueryTable } from "./table.ts";

/** The parameters of a query: the value of each is the member with its name of each call's input. */
export type ParametersOf<Input> = { readonly [Name in keyof Input]: RawBuilder<Input[Name]> };

/** A compiled query. */
export class Query<Row, Input> {
  readonly statement: Statement<Input>;
  /** Makes a row from the values of the statement. */
  readonly rowOf: (values: ColumnValues) => Row;

  constructor(statement: Statement<Input>, rowOf: (values: ColumnValues) => Row) {
    this.statement = statement;
    this.rowOf = rowOf;
  }

  /** All rows. */
  all(session: Session, input: Input): Promise<Row[]> {
    return session.query(this.statement, input).then((rows) => rows.map(this.rowOf));
  }

  /** The first row, or undefined if there is none. */
  first(session: Session, input: Input): Promise<Row | undefined> {
    return session.query(this.statement, input).then(([values]) => values && this.rowOf(values));
  }

  /** Runs a query that returns no rows, or whose rows do not matter. */
  async run(session: Session, input: Input): Promise<void> {
    await session.query(this.statement, input);
  }
}

/** The row type of a query. */
export type QueryRow<Definition> = Definition extends QueryDefinition<infer Row, infer _Input> ? Row : never;

/** Returns a query as it was compiled for the database of a store. */
export type QueryDefinition<Row, Input> = (store: { readonly dialect: Dialect }) => Query<Row, Input>;

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
  const compiled = new Map<Dialect, Query<Row, Input>>();
  return ({ dialect }) => {
    const known = compiled.get(dialect);
    if (known) return known;
    // The builder only writes SQL; its type says which tables and columns there are.
    const db = dialect.builder as unknown as Kysely<DatabaseOf<Tables>>;
    const query = compileQuery(build(db, parametersOf<Input>(dialect), dialect), dialect, tables, options);
    compiled.set(dialect, query);
    return query;
  };
}

/** Makes a parameter for each name that a query uses. SQLite stores booleans as 0 and 1. */
function parametersOf<Input>({ name: database }: Dialect): ParametersOf<Input> {
  const encode = (value: unknown) =>
    typeof value === "boolean" && database === "sqlite" ? Number(value) : value;
  const get = (_target: object, name: string | symbol) =>
    parameter((input: Input) => encode(input[name as keyof Input]));
  return new Proxy({}, { get }) as ParametersOf<Input>;
}

function compileQuery<Row, Input>(
  query: Compilable<Row>,
  dialect: Dialect,
  tables: readonly QueryTable[],
  options: Pick<Statement<Input>, "mayScan" | "tenantOf">,
): Query<Row, Input> {
  const compiled = query.compile();
  const columns = returnedColumns(compiled.query);
  const booleans = new Set(dialect.name === "sqlite" ? tables.flatMap(booleanColumns) : []);
  const isBoolean = ({ column }: ReturnedColumn): boolean => column !== undefined && booleans.has(column);
  return new Query(statementOf(compiled, options), rowFunction(columns, isBoolean));
}

/**
 * A function that makes a row of named columns. It is generated, so that each row is one object literal: assigning
 * eleven columns by computed names takes 150 ns, the literal 40 ns.
 */
function rowFunction<Row>(
  columns: readonly ReturnedColumn[],
  isBoolean: (column: ReturnedColumn) => boolean,
): (values: ColumnValues) => Row {
  const members = columns.map((column, index) => {
    const value = `values[${index}]`;
    const decoded = isBoolean(column) ? `${value} === null ? null : ${value} === 1` : value;
    return `${JSON.stringify(column.name)}: ${decoded}`;
  });
  // The names come from queries in this source; the columns are those that the builder inferred `Row` from.
  return new Function("values", `return { ${members.join(", ")} };`) as (values: ColumnValues) => Row;
}

interface ReturnedColumn {
  readonly name: string;
  /** The column of a table that it is; undefined for an expression. */
  readonly column: string | undefined;
}

function returnedColumns(node: RootOperationNode): ReturnedColumn[] {
  if (SelectQueryNode.is(node))
    return (node.selections ?? []).map(({ selection }) => returnedColumn(selection));
  const returning = "returning" in node ? node.returning : undefined;
  return (returning?.selections ?? []).map(({ selection }) => returnedColumn(selection));
}

function returnedColumn(node: OperationNode): ReturnedColumn {
  if (AliasNode.is(node) && IdentifierNode.is(node.alias))
    return { name: node.alias.name, column: columnName(node.node) };
  const column = columnName(node);
  if (column === undefined) throw new Error("a query names each column that it returns");
  return { name: column, column };
}

function columnName(node: OperationNode): string | undefined {
  const column = ReferenceNode.is(node) ? node.column : node;
  return ColumnNode.is(column) ? column.column.name : undefined;
}
