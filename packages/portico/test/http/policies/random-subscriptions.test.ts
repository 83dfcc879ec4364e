// Live subscriptions of callers with random policies, compared with a plain model in memory: each caller receives the
// events of the rows that its policies show, in order, and no others.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { systemCaller } from "../../../src/auth/system-caller.ts";
import { createTenant } from "../../../src/auth/tenants/tenant.ts";
import type { Caller } from "../../../src/declare/caller.ts";
import { createServer, type PorticoServer } from "../../../src/server.ts";
import {
  type Answer,
  anyForest,
  anyPolicies,
  body,
  type Level,
  levels,
  type Policies,
  PolicyModel,
  type Row,
  resolve,
} from "../../engine/policy-model.ts";
import { appOf, open } from "../../engine/policy-rows.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

const declarations = { top: "all", mid: ["read"], leaf: "all" } as const;
const callers = 3;
/** Everybody sees rows with this word. They follow each write, so that nobody has to wait for what must not come. */
const marker = "marker";

const anyWrite = fc.record({
  kind: fc.constantFrom("Created", "Updated", "Updated", "Deleted"),
  level: fc.constantFrom(...levels),
  pick: fc.nat(),
  body,
  peer: fc.option(fc.nat()),
});
type Write = typeof anyWrite extends fc.Arbitrary<infer Each> ? Each : never;

/** The selections of subscriptions: what the event recorded suffices for the first, and the second reads related rows. */
const selections: Readonly<Record<Level, readonly string[]>> = {
  top: ["id", "id mids(first: 1) { id }"],
  mid: ["id", "id top { id }"],
  leaf: ["id", "id mid { id } peer { id }"],
};

for (const inherits of [true, false])
  onEachDatabase(`random policies and live subscriptions, ${inherits ? "" : "not "}inherited`, (database) => {
    let workspace: Workspace;
    let server: PorticoServer;
    let system: Caller;
    const keys: { readonly id: string; readonly key: string }[] = [];
    /** By the id of the key. */
    const policiesOf = new Map<string, Policies>();
    before(async () => {
      workspace = await makeWorkspace(database);
      const { databaseUrl } = workspace;
      const declared = appOf(inherits, declarations, (caller) => policiesOf.get(caller.credentialId) ?? open);
      server = await createServer(declared, { databaseUrl, port: 0, log: { write() {} } });
      await server.listen();
      const { model } = server.engine;
      system = systemCaller(model, (await createTenant(server.store, "Random")).id);
      for (let index = 0; index < callers; index += 1) {
        const input = {
          name: `Key ${index}`,
          scopes: model.scopes,
          rateLimit: { limit: 1_000_000, windowSeconds: 1 },
        };
        const { id, returnedOnce } = await server.engine.create(system, model.resource.get("apiKey")!, input);
        keys.push({ id: String(id), key: String(returnedOnce?.key) });
      }
    });
    after(async () => {
      await server?.close();
      await workspace?.remove();
    });

    const create = async (level: Level, parent: Row | undefined, values: object): Promise<Row> => {
      const resource = server.engine.model.resource.get(level)!;
      const { id, text } = await server.engine.create(system, resource, values, parent?.id);
      return { level, parent, id: String(id), values: JSON.parse(text) };
    };
    const update = async (row: Row, values: object): Promise<void> => {
      const resource = server.engine.model.resource.get(row.level)!;
      row.values = JSON.parse((await server.engine.update(system, resource, row.id, values)).text);
    };
    const remove = (row: Row): Promise<unknown> =>
      server.engine.delete(system, server.engine.model.resource.get(row.level)!, row.id);

    test("callers receive the events of the rows that their policies show", async () => {
      await fc.assert(
        fc.asyncProperty(
          anyForest,
          fc.array(anyPolicies, { minLength: callers, maxLength: callers }),
          fc.array(anyWrite, { minLength: 16, maxLength: 16 }),
          async (forest, policies, writes) => {
            const tops = await Promise.all(forest.top.map((each) => create("top", undefined, each)));
            const mids = await Promise.all(
              forest.mid.map(([under, each]) => create("mid", tops[under % tops.length], each)),
            );
            const leaves = await Promise.all(
              forest.leaf.map(([under, each, peer]) =>
                create("leaf", mids[under % mids.length], { ...each, ...peerAmong(tops, peer) }),
              ),
            );
            const top = await create("top", undefined, { word: marker });
            const mid = await create("mid", top, { word: marker });
            const leaf = await create("leaf", mid, { word: marker });
            const markers = { top, mid, leaf };
            const planted = [...tops, ...mids, ...leaves];
            const rows = [...planted, top, mid, leaf];
            const models = policies.map((each, index) => {
              const current = withMarkers(resolve(each, planted));
              policiesOf.set(keys[index]!.id, current);
              return new PolicyModel(inherits, declarations, current);
            });
            const streams = await openStreams();
            /** The rows of now decide about related rows, and the last values of the row about its own fields. */
            const expectEvent = (kind: string, row: Row): void => {
              for (const [index, model] of models.entries()) {
                model.rows.splice(0, model.rows.length, ...rows);
                if (!model.isVisible(row)) continue;
                for (const each of streams)
                  if (each.caller === index && each.kind === kind && each.level === row.level)
                    each.expected.push(row.id);
              }
            };
            const apply = async (kind: string, row: Row, values: object): Promise<void> => {
              if (kind === "Created") {
                const created = await create(row.level, row.parent, values);
                rows.push(created);
                expectEvent(kind, created);
              } else if (kind === "Updated") {
                await update(row, values);
                expectEvent(kind, row);
              } else {
                await remove(row);
                rows.splice(rows.indexOf(row), 1);
                expectEvent(kind, row);
              }
            };
            const assertReceived = async (level: Level, kind: string): Promise<void> => {
              for (const { stream, expected, ...each } of streams) {
                if (each.level !== level || each.kind !== kind) continue;
                await stream.results(expected.length);
                const received = stream.allResults.map(({ data, errors }) => {
                  assert.equal(errors, undefined, JSON.stringify(errors));
                  return (Object.values(data)[0] as { id: string }).id;
                });
                assert.deepEqual(received, expected, JSON.stringify({ ...each, writes }));
              }
            };
            try {
              for (const write of writes) {
                const { level, kind } = write;
                const row = pickRow(rows, markers, write);
                if (!row) continue;
                const presentTops = rows.filter((each) => each.level === "top" && each !== top);
                await apply(kind, row, {
                  ...write.body,
                  ...(level === "leaf" && peerAmong(presentTops, write.peer)),
                });
                const marked = markers[level];
                if (kind === "Deleted") {
                  const last = await create(level, marked.parent, { word: marker });
                  rows.push(last);
                  expectEvent("Created", last);
                  // A row that is gone when a subscription reads it has no earlier event.
                  await assertReceived(level, "Created");
                  await apply(kind, last, {});
                } else await apply(kind, marked, { word: marker });
                await assertReceived(level, kind);
              }
            } finally {
              for (const { stream } of streams) stream.close();
            }
          },
        ),
        { numRuns: randomRuns(3, 2), endOnFailure: true },
      );
    });

    async function openStreams() {
      const all = keys.flatMap((_, caller) =>
        levels.flatMap((level) =>
          ["Created", "Updated", "Deleted"].flatMap((kind) =>
            // A deleted row can no longer be read.
            selections[level].slice(0, kind === "Deleted" ? 1 : 2).map((selection) => ({
              ...{ caller, level, kind, selection },
            })),
          ),
        ),
      );
      return Promise.all(
        all.map(async (each) => {
          const query = `subscription { ${each.level}${each.kind} { ${each.selection} } }`;
          const { key } = keys[each.caller]!;
          const expected: string[] = [];
          return { ...each, expected, stream: await TestStream.open({ url: server.url, key }, query) };
        }),
      );
    }
  });

/** A leaf has its peer among its friends. */
function peerAmong(
  tops: readonly Row[],
  peer: number | null,
): { readonly peerId: string | null; readonly friendIds: readonly string[] } {
  const peerId = peer === null || tops.length === 0 ? null : tops[peer % tops.length]!.id;
  return { peerId, friendIds: peerId === null ? [] : [peerId] };
}

/** A row that can be written: only rows are deleted that nothing refers to. */
function pickRow(
  rows: readonly Row[],
  markers: Readonly<Record<Level, Row>>,
  { level, kind, pick }: Write,
): Row | undefined {
  const isFree = (row: Row): boolean =>
    !rows.some(({ parent, values }) => parent === row || values.peerId === row.id);
  const candidates = rows.filter(
    (row) => row.level === level && row !== markers[level] && (kind !== "Deleted" || isFree(row)),
  );
  return candidates[pick % candidates.length];
}

function withMarkers(policies: Policies): Policies {
  const shown = (answer: Answer): Answer => {
    if (answer === true) return true;
    return answer === false ? { word: marker } : { OR: [answer, { word: marker }] };
  };
  const ofLevel = (level: Level) => ({ ...policies[level], read: shown(policies[level].read) });
  return { top: ofLevel("top"), mid: ofLevel("mid"), leaf: ofLevel("leaf") };
}
