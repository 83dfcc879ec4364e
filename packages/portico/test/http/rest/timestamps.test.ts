// Timestamps over HTTP: every one is returned as it was sent, in UTC and with milliseconds.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { app, resource, text, timestamp } from "portico";
import { randomRuns } from "../../support/random-runs.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const meetings = resource("meeting", {
  fields: {
    title: text({ max: 50, default: "" }),
    startsAt: timestamp(),
    endsAt: timestamp({ optional: true }),
  },
  filter: ["startsAt"],
  sort: ["startsAt"],
});
const declared = app({ name: "Meetings", resources: [meetings] });

/** The bounds of the years, and fractions and times that end with zeros. */
const edges = [
  "0001-01-01T00:00:00.000Z",
  "9999-12-31T23:59:59.999Z",
  "1969-12-31T23:59:59.999Z",
  "2024-02-29T00:00:00.000Z",
  "2026-11-21T09:30:00.500Z",
  "2026-11-21T09:30:10.010Z",
  "2026-11-21T00:00:00.001Z",
];
const moment = fc.oneof(
  fc.constantFrom(...edges),
  fc
    .date({ min: new Date(edges[0]!), max: new Date(edges[1]!), noInvalidDate: true })
    .map((date) => date.toISOString()),
);

onEachDatabase("timestamps", (database) => {
  const server = serve(database, { app: declared });

  test("every timestamp is returned as it was sent, by REST, GraphQL and a filter", () =>
    fc.assert(
      fc.asyncProperty(moment, fc.option(moment), async (startsAt, endsAt) => {
        const sent = { startsAt, endsAt };
        const times = ({ startsAt, endsAt }: typeof sent) => ({ startsAt, endsAt });
        const created = await server.create("/meetings", sent);
        const { body } = await server.request(`/meetings/${created.id}`);
        deepEqual([times(created), times(body)], [sent, sent]);
        const page = await server.request(`/meetings?sort=-startsAt&startsAt=${startsAt}`);
        deepEqual(
          page.body.data.find(({ id }: { id: string }) => id === created.id),
          body,
        );
        const query = `{ meeting(id: "${created.id}") { startsAt endsAt } }`;
        deepEqual((await server.request("/graphql", { body: { query } })).body.data, { meeting: sent });
      }),
      { numRuns: randomRuns(60, 20), examples: edges.map((each): [string, string] => [each, each]) },
    ));
});
