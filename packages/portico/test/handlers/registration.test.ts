// Which handlers get which events: new ones, those that are no longer declared, and events that are old.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import type { HandlerContext, LooseHandlers } from "../../src/declare/handlers.ts";
import { resource } from "../../src/declare/resource.ts";
import { eventRetention } from "../../src/events/purged-events.ts";
import { declaredHandlers } from "../../src/handlers/declared-handlers.ts";
import { areEventsOfHandlersNeeded } from "../../src/handlers/needed-events.ts";
import { forgetAfterMs, forgetUnseen } from "../../src/handlers/registration.ts";
import { failedJobRetention } from "../../src/handlers/retention.ts";
import { listJobs } from "../../src/handlers/stored-jobs.ts";
import { Purge } from "../../src/jobs/purge.ts";
import { composeApp } from "../../src/runtime/compose.ts";
import { completeSettings } from "../../src/runtime/settings/settings.ts";
import { openStore } from "../../src/store/open.ts";
import { Calls } from "../support/called-handlers.ts";
import { countDirectly } from "../support/database-reader.ts";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../support/server.ts";

const notes = resource("note", { fields: { title: text({ max: 50 }) } });
const withHandlers = (on: LooseHandlers) =>
  // The names are those of events of notes.
  app({ name: "Notes", resources: [notes], on: on as never });

onEachDatabase("declared handlers", (database) => {
  let workspace: Workspace;
  before(async () => {
    workspace = await makeWorkspace(database);
  });
  after(() => workspace.remove());

  test("a new handler begins now, an old one goes on, and one that is gone is forgotten", async () => {
    const old = new Calls<HandlerContext>();
    const added = new Calls<HandlerContext>();
    const titles = ({ all }: Calls) => all.map(({ event }) => event.data["title"]);
    const create = (server: Portico, title: string) => server.request("/notes", { body: { title } });

    const env = { PORTICO_JOB_SCHEDULE: "0,0" };
    const fail = (): never => {
      throw new Error("always");
    };
    const first = await Portico.startApp(
      workspace,
      withHandlers({ "note.*": { old: (call) => old.add(call), fail } }),
      { env },
    );
    const { key } = first;
    await create(first, "First");
    await old.until((all) => all.length === 1);
    await first.stop();

    // A version without handlers records events, which the next version handles.
    const second = await Portico.startApp(workspace, withHandlers({}), { env, key });
    await create(second, "Second");
    await second.stop();

    const on = { "note.*": { old: old.add.bind(old), added: added.add.bind(added) } };
    const third = await Portico.startApp(workspace, withHandlers(on as LooseHandlers), { env, key });
    await create(third, "Third");
    await added.until((all) => all.length === 1);
    await old.until((all) => all.length === 3);
    await third.stop();
    assert.deepEqual(titles(added as never), ["Third"]);
    assert.deepEqual(titles(old as never), ["First", "Second", "Third"]);

    const store = await openStore(workspace.databaseUrl, { slowReadMs: 1_000 });
    try {
      const pending =
        "select count(*) from handler_jobs where status = 'pending' and handler = 'note.*/fail'";
      assert.ok((await countDirectly(workspace.databaseUrl, pending)) > 0);
      assert.deepEqual(await forgetUnseen(store), []);
      // Events that are needed are kept, however old they are.
      const purge = async () => {
        const retention = eventRetention(store, 0, [areEventsOfHandlersNeeded]);
        await new Purge(store, [{ ...retention, retentionMs: -60_000 }], assert.fail).purgeAll();
        return countDirectly(
          workspace.databaseUrl,
          "select count(*) from events where kind = 'note.created'",
        );
      };
      assert.equal(await purge(), 3);
      const forgotten = await forgetUnseen(store, Date.now() + forgetAfterMs + 1_000);
      assert.deepEqual(forgotten.toSorted(), ["note.*/added", "note.*/fail", "note.*/old"]);
      assert.equal(await countDirectly(workspace.databaseUrl, pending), 0);
      const errors = (await listJobs(store, old.all[0]!.event.tenantId, 10, true)).map(
        ({ lastError }) => lastError,
      );
      assert.ok(errors.includes("The handler is no longer declared."));
      const failed = { ...failedJobRetention(30), retentionMs: -2 * forgetAfterMs };
      await new Purge(store, [failed], (message) => assert.fail(message)).purgeAll();
      assert.equal(await countDirectly(workspace.databaseUrl, "select count(*) from handler_jobs"), 0);
      // The newest event is always kept.
      assert.equal(await purge(), 1);
    } finally {
      await store.database.close();
    }
  });
});

test("a handler that is declared wrongly stops the start, with one line that names it", () => {
  const run = () => {};
  for (const [on, line] of [
    [
      { "nota.created": run },
      /app: on: "nota.created" is not an event of a resource; write created, updated, deleted or \* after one of .*\bnote$/,
    ],
    [{ "note.closed": run }, /"note.closed" is not an event/],
    [{ note: run }, /"note" is not an event/],
    [{ "note.created": "run" }, /"note.created" must be a function, or functions by name/],
    [{ "note.created": { notify: 1 } }, /"note.created": notify must be a function/],
    [{ "note.created": { "a/b": run } }, /"note.created": the name "a\/b" is invalid/],
    [[run], /must be an object of functions/],
  ] as const)
    assert.throws(
      // Wrong on purpose.
      () => composeApp(withHandlers(on as never), completeSettings({ databaseUrl: "file::memory:" }, {})),
      line,
    );
  assert.deepEqual(declaredHandlers(undefined), []);
});
