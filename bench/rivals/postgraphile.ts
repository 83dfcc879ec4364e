// PostGraphile 5 on the schema that the bench has filled, with its preset "amber" and node:http. It checks no key, counts
// no quota and logs nothing. Runs in a process of its own, started by ../rival.ts.

import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { jsonPgSmartTags } from "postgraphile/utils";
import { serve } from "../serve.ts";

const connectionString = process.argv[2]!;
const schema = new URL(connectionString).searchParams.get("search_path")!;

/** PostGraphile renames a column `id` to `rowId`, which is also the name of this column. */
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
// Builds the GraphQL schema before the first request.
await instance.getSchema();
serve(server);
