// The servers that Portico is compared with, on each database.

import type { DatabaseName } from "./options.ts";
import type { Query } from "./queries.ts";

export interface RivalKind {
  readonly title: string;
  /** Below this folder. */
  readonly program: string;
  /** What the program is given to find the rows. */
  readonly wordOf: (databaseUrl: string) => string;
  /** What it is asked for a query of GraphQL; one without it answers REST. */
  readonly documentOf?: (query: Query, tenantId: string) => string;
}

/** On SQLite's file, asked what Portico is asked. */
const byHand = {
  wordOf: (databaseUrl: string) => databaseUrl.replace(/^file:/, ""),
  documentOf: ({ portico }: Query) => portico,
};

export const rivalKinds: Readonly<Record<DatabaseName, readonly RivalKind[]>> = {
  sqlite: [
    { ...byHand, title: "graphql-yoga + DataLoader", program: "rival-yoga.ts" },
    { ...byHand, title: "Mercurius with jit", program: "rivals/mercurius.ts" },
  ],
  postgres: [
    { title: "Fastify + pg", program: "rivals/fastify.ts", wordOf: (databaseUrl) => databaseUrl },
    {
      title: "PostGraphile 5",
      program: "rivals/postgraphile.ts",
      wordOf: (databaseUrl) => databaseUrl,
      documentOf: ({ postgraphile }, tenantId) => postgraphile(tenantId),
    },
  ],
};
