// `portico migrate --contract` rewrites events from earlier versions, in batches that can be repeated.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { EventFeed } from "../../src/events/feed.ts";
import { Position } from "../../src/events/position.ts";
import { rewriteEventTypes } from "../../src/events/rewrite-event-types.ts";
import { StoredNames } from "../../src/events/stored-names.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { makeWorkspace, onEachDatabase, portico, type Workspace } from "../support/server.ts";

/** Fills more than two batches. */
const eventCount = 4_500;
const storedTypes = ["post.created", "post.changed", "post.removed", "apiKey.created", "apiKey.changed"];
const currentTypes = ["post.created", "post.updated", "post.deleted", "api_key.created", "api_key.updated"];
const outdated = (eventCount / storedTypes.length) * 4;

onEachDatabase("events from earlier versions", (database) => {
  let workspace: Workspace;
  let store: Store;
  let tenantId: string;
  let tenantNo: number;
  const run = (text: string): Promise<readonly (readonly unknown[])[]> =>
    store.transaction((session) => session.query({ sql: text, bind: () => [] }, undefined));
  const typesInOrder = async (): Promise<string[]> =>
    (await run("select kind from events order by sequence")).map(([kind]) => String(kind));
  const migrate = (...options: string[]) => portico(workspace, ["migrate", "--contract", ...options]);
  const inEachEvent = (types: readonly string[]): string[] =>
    Array.from({ length: eventCount }, (_, index) => types[index % types.length]!);
  before(async () => {
    workspace = await makeWorkspace(database);
    const { code, stderr } = await portico(workspace, ["migrate"]);
    assert.equal(code, 0, stderr);
    store = await openStore(workspace.databaseUrl);
    tenantId = (await createTenant(store, "Listening")).id;
    tenantNo = (await store.tenants.findNumber(store.database, tenantId))!;
  });
  beforeEach(async () => {
    await run("delete from events");
    const rows = inEachEvent(storedTypes).map(
      (type, index) =>
        `('event_${index}', ${tenantNo}, '${type.split(".")[0]}', '${type}', 'row_${index}', '{}', 'key_1', '2026-01-01T00:00:00.000Z')`,
    );
    await run(
      `insert into events (id, tenant_no, resource, kind, row_id, row, credential_id, created_at) values ${rows.join()}`,
    );
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  test("a dry run counts the events and changes nothing", async () => {
    const { code, stdout } = await migrate("--dry-run");
    assert.deepEqual(
      [code, stdout],
      [0, `The database is up to date.\n-- ${outdated} events from earlier versions would be rewritten.\n`],
    );
    assert.deepEqual(await typesInOrder(), inEachEvent(storedTypes));
  });

  test("the command rewrites all of them, and a second run nothing", async () => {
    const { code, stdout } = await migrate();
    assert.deepEqual(
      [code, stdout],
      [0, `The database is up to date.\nRewrote ${outdated} events from earlier versions.\n`],
    );
    assert.deepEqual(await typesInOrder(), inEachEvent(currentTypes));
    const again = await migrate("--json");
    assert.equal(JSON.parse(again.stdout).rewrittenEvents, 0);
    assert.deepEqual(await typesInOrder(), inEachEvent(currentTypes));
  });

  test("without --contract they are not changed", async () => {
    const { code, stdout } = await portico(workspace, ["migrate", "--json"]);
    assert.equal(code, 0);
    assert.equal("rewrittenEvents" in JSON.parse(stdout), false);
    assert.deepEqual(await typesInOrder(), inEachEvent(storedTypes));
  });

  test("the next run continues an interrupted one", async () => {
    const interrupt = (): void => {
      throw new Error("interrupted");
    };
    await assert.rejects(rewriteEventTypes(store, { onProgress: interrupt }), /interrupted/);
    const left = (await typesInOrder()).filter((type) => /apiKey|changed|removed/.test(type)).length;
    assert.ok(left > 0 && left < outdated, `${left} are left`);
    const fractions: number[] = [];
    const rewritten = await rewriteEventTypes(store, { onProgress: (fraction) => fractions.push(fraction) });
    assert.equal(rewritten, left);
    assert.deepEqual(await typesInOrder(), inEachEvent(currentTypes));
    assert.equal(fractions.at(-1), 1);
    assert.deepEqual(
      fractions,
      fractions.toSorted((one, other) => one - other),
    );
  });

  test("subscribers read the same types before, during and after the rewrite", async () => {
    const feed = new EventFeed(store, (message) => assert.fail(message), new StoredNames([]));
    const newest = Number((await run("select max(sequence) from events"))[0]![0]);
    const range = {
      tenantId,
      resource: "post",
      after: Position.start,
      until: Position.before(1e12),
    };
    const read = async () => (await feed.readRange(range)).map(({ type: kind }) => kind);
    const before = await read();
    assert.ok(before.includes("post.updated"));
    await run(
      `update events set kind = 'post.updated' where sequence > ${newest - 5} and kind = 'post.changed'`,
    );
    assert.deepEqual(await read(), before);
    await rewriteEventTypes(store);
    assert.deepEqual(await read(), before);
  });
});
