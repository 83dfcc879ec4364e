// The walk through examples/tracker answers as its README shows.

import { ok } from "node:assert/strict";
import { test } from "node:test";
import { runDocuments } from "./support/document.ts";
import { onEachDatabase } from "./support/server.ts";

onEachDatabase("examples/tracker", (database) => {
  test("its walk through answers as shown", async () => {
    ok((await runDocuments(["examples/tracker/README.md"], { database, folder: "examples/tracker" })) > 20);
  });
});
