// `portico import`: rows from standard input.

import assert from "node:assert/strict";
import { test } from "node:test";
import { writeDirectly } from "../../support/database-reader.ts";
import { serve } from "../../support/scenario.ts";
import {
  makeWorkspace,
  onEachDatabase,
  Portico,
  porticoProcess,
  type Workspace,
} from "../../support/server.ts";

const importProjects = (workspace: Workspace, input: string, ...more: string[]) =>
  porticoProcess(workspace, ["import", "projects", ...more], { input });

onEachDatabase("portico import", (database) => {
  const server = serve(database);

  test("writes a row for each line that is right, and says what is wrong with the others", async () => {
    const input = 'name\nImported\n""\n';
    const { code, stdout, stderr } = await importProjects(server.workspace, input);
    assert.match(
      stdout,
      /^1 created, 0 updated, 1 failed in tenant_\w+, by the server itself\nline 3: [^\n]*name[^\n]*\n$/,
    );
    assert.deepEqual([code, stderr], [0, ""]);
    const { body } = await server.request("/projects");
    assert.equal(body.data[0].name, "Imported");
  });

  test("refuses what it does not know before it writes anything", async () => {
    for (const words of [
      ["--format", "xml"],
      ["--by", "colour"],
      ["--user", "nobody@example.com"],
    ]) {
      const { code, stdout, stderr } = await importProjects(
        server.workspace,
        '{"name": "Refused"}',
        ...words,
      );
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(stderr, /^portico: [^\n]+\n$/);
    }
    const { body } = await server.request("/projects");
    assert.ok(body.data.every(({ name }: { readonly name: string }) => name !== "Refused"));
  });

  test("names the command that is missing if the database lacks a column", async () => {
    const workspace = await makeWorkspace(database);
    try {
      await (await Portico.start(workspace)).stop();
      await writeDirectly(workspace.databaseUrl, "alter table projects rename column name to other");
      const { code, stdout, stderr } = await importProjects(workspace, '{"name": "One"}\n{"name": "Two"}\n');
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(
        stderr,
        /^portico: the database does not match the declarations .* run portico migrate\n$/,
      );
    } finally {
      await workspace.remove();
    }
  });
});
