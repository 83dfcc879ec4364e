// A server that is killed in the middle of an import.

import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf, OpenImport, until } from "../../support/imports.ts";
import { makeWorkspace, onEachDatabase, PorticoProcess } from "../../support/server.ts";

const count = 2_000;
const rows = Array.from({ length: count }, (_, index) => ({ name: `Row ${index}`, slug: `row-${index}` }));

onEachDatabase("imports of a server that is killed", (database) => {
  test("the first lines are written, each with its event, and the import can be repeated", async () => {
    const workspace = await makeWorkspace(database);
    let server = await PorticoProcess.start(workspace);
    try {
      const { key } = server;
      const path = "/v1/imports/projects?mode=upsert&by=slug";
      const running = new OpenImport(`${server.url}${path}`, key);
      running.sending.on("error", () => {});
      running.write(linesOf(rows.slice(0, count / 2)));
      await until(async () => (await server.request("/projects?slug=row-0")).body.data.length > 0);
      await server.kill();
      server = await PorticoProcess.start(workspace, { key });
      const exported = async (
        query: string,
      ): Promise<{ resource: string; resourceId: string; id: string; slug: string }[]> => {
        const headers = { authorization: `Bearer ${key}` };
        const text = await (await fetch(`${server.url}/v1/exports/${query}`, { headers })).text();
        return text
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line));
      };
      const written = await exported("projects");
      const events = await exported("events?resource=project");
      assert.deepEqual(
        new Set(events.map(({ resourceId }) => resourceId)),
        new Set(written.map(({ id }) => id)),
      );
      // The first start of the sandbox has made one project.
      const slugs = written.slice(1).map(({ slug }) => slug);
      assert.deepEqual(new Set(slugs), new Set(rows.slice(0, slugs.length).map(({ slug }) => slug)));
      const response = await fetch(`${server.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" },
        body: linesOf(rows),
      });
      const { created, updated, failed } = (await response.json()) as Record<string, number>;
      assert.deepEqual([created! + updated!, failed], [count, 0]);
      assert.equal(updated, slugs.length);
      assert.equal((await exported("projects")).length, count + 1);
    } finally {
      await server.kill();
      await workspace.remove();
    }
  });
});
