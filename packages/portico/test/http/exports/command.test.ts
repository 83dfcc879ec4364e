// `portico export`: the rows on standard output, everything else on standard error.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase, porticoProcess, program, projectFolder } from "../../support/server.ts";

onEachDatabase("portico export", (database) => {
  const server = serve(database);

  test("writes what the export over HTTP has, and how many rows of which tenant they are", async () => {
    const response = await fetch(`${server.url}/v1/exports/posts?status=published`, {
      headers: { Authorization: `Bearer ${server.portico.key}` },
    });
    const words = ["export", "posts", "--query", "status=published"];
    const { code, stdout, stderr } = await porticoProcess(server.workspace, words);
    assert.equal(stdout, await response.text());
    assert.match(stderr, /^\d+ rows of tenant_\w+ exported, by the server itself\n$/);
    assert.equal(Number.parseInt(stderr, 10), stdout.split("\n").length - 1);
    assert.equal(code, 0);
  });

  test("refuses what it does not know before it writes anything", async () => {
    for (const words of [["cats"], ["posts", "--query", "colour=red"], ["posts", "--format", "xml"]]) {
      const { code, stdout, stderr } = await porticoProcess(server.workspace, ["export", ...words]);
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(stderr, /^portico: [^\n]+\n$/);
    }
  });

  test("says that standard output cannot be written to", {
    skip: !existsSync("/dev/full") && "there is no /dev/full",
  }, async () => {
    const full = openSync("/dev/full", "w");
    const child = spawn(process.execPath, [program, "export", "posts"], {
      cwd: projectFolder,
      env: { ...process.env, DATABASE_URL: server.workspace.databaseUrl },
      stdio: ["ignore", full, "pipe"],
    });
    const closed = once(child, "close");
    assert.match(
      await text(child.stderr!),
      /^portico: standard output cannot be written to \(ENOSPC\) after \d+ rows\n$/,
    );
    assert.equal((await closed)[0], 1);
    closeSync(full);
  });
});
