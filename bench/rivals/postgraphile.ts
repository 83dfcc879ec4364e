// PostGraphile 5 on the schema that the bench has filled: its preset "amber" and node:http. It checks no key, counts no
// quota and logs nothing. A process of its own, started by ../rival.ts.

import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { jsonPgSmartTags } from "postgraphile/utils";
import { serve } from "../serve.ts";

const connectionString = process.argv[2]!;
const schema = new URL(connectionString).searchParams.get("search_path")!;

/** Its own name for a column `id` is `rowId`, which this column would have as well. */
const names = jsonPgSmartTags({
  version: 1,
  config: { attribute: { "events.row_id": { tags: { name: "subject_id" } } } },
});

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  plugins: [names],
  pgServices: [makePgService({ connectionString, schemas: [schema] })],
  grafserv: { graphiql: false },
});
const server = createServer();
await instance.createServ(grafserv).addTo(server);
// The first request finds the GraphQL schema made.
await instance.getSchema();
serve(server);
