// The time limit of a route that reads.

import { rejects } from "node:assert/strict";
import { test } from "node:test";
import { systemCaller } from "../../src/auth/system-caller.ts";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { route } from "../../src/declare/route.ts";
import { Engine } from "../../src/engine/engine.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { RouteRun } from "../../src/routes/run.ts";
import { openStore } from "../../src/store/open.ts";
import { makeWorkspace } from "../support/server.ts";

const notes = resource("note", { fields: { line: text({ max: 20 }) } });

test("a handler that does not end is 503 unavailable, and reads nothing more", async () => {
  const continued = Promise.withResolvers<void>();
  const read = Promise.withResolvers<unknown>();
  const hanging = route("GET /v1/hangs", { scope: null }, async ({ rows }) => {
    await continued.promise;
    await rows.get(notes, "note_00000000000000000000000000").then(read.resolve, read.reject);
  });
  const model = buildModel(app({ name: "Hanging", resources: [notes], routes: [hanging] }), []);
  const workspace = await makeWorkspace("sqlite");
  const store = await openStore(workspace.databaseUrl);
  const [declared] = model.routes;
  const caller = systemCaller(model, "tenant_1");
  const context = { caller, now: new Date().toISOString(), parameters: {}, query: {}, input: {} };
  const run = new RouteRun(new Engine(model, store), declared!, context, 1);
  await rejects(run.run(), { code: "unavailable", message: "The request took too long." });
  continued.resolve();
  await rejects(read.promise, /a route used its rows after it had ended/);
  await store.database.close();
  await workspace.remove();
});
