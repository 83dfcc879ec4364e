// The servers with which Portico is compared on each database.

import type { DatabaseName } from "./options.ts";
import type { Query } from "./queries.ts";

export interface RivalKind {
  readonly title: string;
  /** A path relative to this folder. */
  readonly program: string;
  /** The argument with which the program finds the database. */
  readonly argumentOf: (databaseUrl: string) => string;
  /** Its GraphQL query for the rows of a Portico query; undefined for a REST server. */
  readonly queryOf?: (query: Query, tenantId: string) => string;
}

/** Reads the SQLite file, and accepts the same queries as Portico. */
const handWritten = {
  argumentOf: (databaseUrl: string) => databaseUrl.replace(/^file:/, ""),
  queryOf: ({ portico }: Query) => portico,
};

export const rivalKinds: Readonly<Record<DatabaseName, readonly RivalKind[]>> = {
  sqlite: [
    { ...handWritten, title: "graphql-yoga + DataLoader", program: "rival-yoga.ts" },
    { ...handWritten, title: "Mercurius with jit", program: "rivals/mercurius.ts" },
  ],
  postgres: [
    { title: "Fastify + pg", program: "rivals/fastify.ts", argumentOf: (databaseUrl) => databaseUrl },
    {
      title: "PostGraphile 5",
      program: "rivals/postgraphile.ts",
      argumentOf: (databaseUrl) => databaseUrl,
      queryOf: ({ postgraphile }, tenantId) => postgraphile(tenantId),
    },
  ],
};
