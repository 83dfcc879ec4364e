// The servers with which Portico is compared on each database.

import type { DatabaseName } from "./options.ts";
import type { Query } from "./queries.ts";

export interface RivalKind {
  readonly title: string;
  /** A path relative to this folder. */
  readonly program: string;
  /** The argument with which the program finds the database. */
  readonly argumentOf: (databaseUrl: string) => string;
  /** The rows that it is measured on. */
  readonly measures: "reads" | "queries" | "creates";
  /** Its GraphQL query for the rows of a Portico query. */
  readonly queryOf?: (query: Query, tenantNo: number) => string;
  /**
   * What Portico promises to reach, in percent. A server with a floor is what a service written by hand would be, and is
   * measured in every run.
   */
  readonly floorPercent?: number;
  /** Whether its packages are in `bench/rivals`. */
  readonly needsInstallation?: boolean;
}

/** Reads the SQLite file, and accepts the same queries as Portico. */
const handWritten = {
  argumentOf: (databaseUrl: string) => databaseUrl.replace(/^file:/, ""),
  measures: "queries" as const,
  queryOf: ({ portico }: Query) => portico,
};

/** Portico's share of the creates of a service written by hand. */
const createFloorPercent = 75;

export const rivalKinds: Readonly<Record<DatabaseName, readonly RivalKind[]>> = {
  sqlite: [
    { ...handWritten, title: "graphql-yoga + DataLoader", program: "rival-yoga.ts" },
    { ...handWritten, title: "Mercurius with jit", program: "rivals/mercurius.ts", needsInstallation: true },
    {
      title: "node:http + node:sqlite",
      program: "insert-sqlite.ts",
      argumentOf: (databaseUrl) => databaseUrl.replace(/^file:/, ""),
      measures: "creates",
      floorPercent: createFloorPercent,
    },
  ],
  postgres: [
    {
      title: "Fastify + pg",
      program: "rivals/fastify.ts",
      argumentOf: (databaseUrl) => databaseUrl,
      measures: "reads",
      needsInstallation: true,
    },
    {
      title: "Fastify + pg",
      program: "rivals/fastify-insert.ts",
      argumentOf: (databaseUrl) => databaseUrl,
      measures: "creates",
      floorPercent: createFloorPercent,
      needsInstallation: true,
    },
    {
      title: "PostGraphile 5",
      program: "rivals/postgraphile.ts",
      measures: "queries",
      needsInstallation: true,
      argumentOf: (databaseUrl) => databaseUrl,
      queryOf: ({ postgraphile }, tenantNo) => postgraphile(tenantNo),
    },
  ],
};
