// Random policies over REST and GraphQL, compared with a plain model in memory: no row too many, none too few, in lists,
// totals, searches, single rows, nested rows and filters by related rows.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { systemCaller } from "../../../src/auth/system-caller.ts";
import { createServer, type PorticoServer } from "../../../src/server.ts";
import { anyForest, anyPolicies, PolicyModel, type Row, resolve } from "../../engine/policy-model.ts";
import { appOf, open, plantIn } from "../../engine/policy-rows.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

const declarations = { top: "all", mid: ["read"], leaf: "all" } as const;
const expected = new PolicyModel(true, declarations, open);

const document = `{
  tops(limit: 12) { id mids(first: 12) { id leaves(first: 12) { id peer { id } } } }
  topsConnection(first: 12, filter: { mids: { some: {} } }) { edges { node { id } } }
}`;

onEachDatabase("random policies over REST and GraphQL", (database) => {
  let workspace: Workspace;
  let server: PorticoServer;
  before(async () => {
    workspace = await makeWorkspace(database);
    const { databaseUrl } = workspace;
    // The last policies of the other database may compare with null, which the start of a server refuses.
    expected.policies = open;
    const declared = appOf(true, declarations, () => expected.policies);
    server = await createServer(declared, { databaseUrl, port: 0, log: { write() {} } });
    await server.listen();
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  test("every request shows the rows that the policies show", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyForest,
        fc.array(anyPolicies, { minLength: 15, maxLength: 15 }),
        async (forest, tried) => {
          const { caller, rows } = await plantIn(server.store, forest);
          const { model } = server.engine;
          const body = { name: "Random", scopes: model.scopes };
          const system = systemCaller(model, caller.tenantId);
          const { returnedOnce } = await server.engine.create(system, model.resource.get("apiKey")!, body);
          const { request, ids } = client(server.url, String(returnedOnce?.key));
          const under = `/tenants/${caller.tenantId}`;
          expected.rows.splice(0, expected.rows.length, ...rows);
          for (const policies of tried) {
            expected.policies = resolve(policies, rows);
            const visible = rows.filter((row) => expected.isVisible(row));
            const of = (level: string, matches = (_row: Row) => true): string[] =>
              visible.filter((row) => row.level === level && matches(row)).map(({ id }) => id);
            assert.deepEqual(await ids("/tops?limit=100"), of("top").sort());
            assert.deepEqual(await ids(`${under}/mids?limit=100&sort=rank`), of("mid").sort());
            assert.deepEqual(await ids(`${under}/leaves?limit=100`), of("leaf").sort());
            const hasWord = ({ values: { word } }: Row): boolean =>
              typeof word === "string" && /(?:^| )a/i.test(word);
            assert.deepEqual(await ids(`${under}/leaves?q=a&limit=100`), of("leaf", hasWord).sort());
            const { data } = await request("/graphql", { query: document });
            assert.deepEqual(sorted(data.tops), sorted(nested(visible)));
            const withMids = of("top", (row) => visible.some((each) => each.parent === row));
            const { edges } = data.topsConnection;
            assert.deepEqual(
              edges.map(({ node }: { node: { id: string } }) => node.id).sort(),
              withMids.sort(),
            );
            const [one] = rows.filter(({ level }) => level === "leaf");
            assert.equal(
              (await request(`/leaves/${one!.id}`)).error?.code,
              visible.includes(one!) ? undefined : "not_found",
            );
          }
        },
      ),
      { numRuns: randomRuns(14, 6), endOnFailure: true },
    );
  });
});

function client(url: string, key: string) {
  async function request(path: string, body?: object) {
    const response = await fetch(url + path, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
    const answer: any = await response.json();
    assert.ok(response.status === 200 || response.status === 404, JSON.stringify(answer));
    assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
    return answer;
  }
  const ids = async (path: string): Promise<string[]> =>
    (await request(path)).data.map(({ id }: { id: string }) => id).sort();
  return { request, ids };
}

function nested(visible: readonly Row[]): object[] {
  const below = (level: string, parent: Row | undefined): readonly Row[] =>
    visible.filter((row) => row.level === level && row.parent === parent);
  const peerOf = ({ values }: Row): object | null =>
    visible.some(({ id }) => id === values.peerId) ? { id: values.peerId } : null;
  return below("top", undefined).map((top) => ({
    id: top.id,
    mids: below("mid", top).map((mid) => ({
      id: mid.id,
      leaves: below("leaf", mid).map((leaf) => ({ id: leaf.id, peer: peerOf(leaf) })),
    })),
  }));
}

/** Sorts all lists by id, because rows with the same timestamp are in the order of random ids. */
function sorted(value: unknown): object {
  return JSON.parse(JSON.stringify(value), (_, each) =>
    Array.isArray(each) ? each.sort((one, other) => (one.id < other.id ? -1 : 1)) : each,
  );
}
