// What a new user sees first: the front page, the lists of the commands, and the location of a configuration error.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  makeWorkspace,
  onEachDatabase,
  PorticoProcess,
  porticoProcess,
  projectFolder,
  type Workspace,
} from "../../support/server.ts";

onEachDatabase("the first minute", (database) => {
  let workspace: Workspace;
  let server: PorticoProcess;
  before(async () => {
    workspace = await makeWorkspace(database);
    server = await PorticoProcess.start(workspace);
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });

  test("/ responds to programs with links, each of which works", async () => {
    const { status, body, headers } = await server.request("/", { key: null });
    equal(status, 200);
    equal(headers.get("vary"), "Accept");
    equal(body.name, "Portico");
    for (const link of Object.values<string>(body.links)) {
      ok(link.startsWith(server.url), link);
      const response = await fetch(link, { headers: { authorization: `Bearer ${server.key}` } });
      // GraphQL without a query is a malformed request, which shows that the path exists.
      equal(response.status, link.endsWith("/graphql") ? 400 : 200, link);
      await response.arrayBuffer();
    }
  });

  test("/ responds to browsers with a page that runs no script and names no resource of the project", async () => {
    const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const answer = await fetch(server.url, { headers: { accept: browser } });
    equal(answer.status, 200);
    equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
    match(answer.headers.get("content-security-policy")!, /^default-src 'none'; script-src 'none'/);
    const page = await answer.text();
    match(page, /<code>curl http:.*\/users -H/);
    match(page, /href="http:[^"]*\/graphql"/);
    ok(!page.includes("projects"));
  });

  test("/ refuses other methods and media types", async () => {
    equal((await server.request("/", { headers: { accept: "image/png" } })).status, 406);
    equal((await server.request("/", { method: "POST", body: {} })).status, 405);
  });

  test("tenant list and user list show the first tenant and user of a sandbox", async () => {
    const { stdout } = await porticoProcess(workspace, ["tenant", "list", "--json"]);
    const { tenants } = JSON.parse(stdout);
    deepEqual(
      tenants.map(({ name }: { name: string }) => name),
      ["Sandbox"],
    );
    const listed = await porticoProcess(workspace, ["user", "list", "--tenant", tenants[0].id, "--json"]);
    const { body } = await server.request("/users");
    deepEqual(JSON.parse(listed.stdout).users, body.data);
    const users = await porticoProcess(workspace, ["user", "list"]);
    match(users.stdout, /^user_\w+ {2}\d{4}-\S+Z {2}ada@example\.com {2}owner {2}Ada Lovelace\n$/);
  });

  test("the log says where the server listens", () => {
    match(server.output, /"host":"127\.0\.0\.1","port":\d+,.*"msg":"listening on 127\.0\.0\.1:\d+"/);
  });
});

onEachDatabase("a sandbox whose declarations were replaced", (database) => {
  test("is refused with instructions for the rows, and for a new start", async () => {
    const workspace = await makeWorkspace(database);
    const folder = await mkdtemp(join(tmpdir(), "portico-replaced-"));
    try {
      await mkdir(join(folder, "node_modules"));
      await symlink(join(projectFolder, "packages/portico"), join(folder, "node_modules/portico"));
      const declare = (field: string): Promise<void> =>
        writeFile(
          join(folder, "portico.config.ts"),
          `import { app, resource, text } from "portico";\n` +
            `export default app({ name: "Notes", resources: [resource("note", { fields: { ${field}: text() } })] });\n`,
        );
      await declare("title");
      const server = await PorticoProcess.start(workspace, { cwd: folder });
      equal((await server.request("/notes", { body: { title: "One" } })).status, 201);
      await server.stop();
      await declare("subject");
      const { code, stderr } = await porticoProcess(workspace, ["serve"], {
        cwd: folder,
        env: { PORT: "0" },
      });
      equal(code, 1);
      match(stderr, /^portico: .*notes/);
      match(
        stderr,
        /\nIf you need nothing that this sandbox holds, empty the database of DATABASE_URL and start again\.\n$/,
      );
    } finally {
      await rm(folder, { recursive: true });
      await workspace.remove();
    }
  });
});

describe("a configuration that cannot be loaded", () => {
  const faults: Readonly<Record<string, readonly [text: string, location: string]>> = {
    "a syntax error": ["export const name = 1;\nexport const other: = 2;\n", "portico.config.ts:2:21"],
    "an import that does not exist": [
      'import { nope } from "node:fs";\nexport default nope;\n',
      "portico.config.ts:1:10",
    ],
    "an error that the configuration throws": ["\nthrow new Error('on purpose');\n", "portico.config.ts:2:7"],
    "a syntax error in an imported file": [
      'import { other } from "./other.ts";\nexport default other;\n',
      "other.ts:1:21",
    ],
  };
  for (const [name, [text, location]] of Object.entries(faults)) {
    test(`${name} is reported with its file, line and column`, async () => {
      const folder = await mkdtemp(join(tmpdir(), "portico-config-"));
      try {
        await writeFile(join(folder, "portico.config.ts"), text);
        await writeFile(join(folder, "other.ts"), "export const other: = 2;\n");
        const workspace = { databaseUrl: `file:${join(folder, "portico.db")}` };
        const { code, stderr } = await porticoProcess(workspace, ["tenant", "list"], { cwd: folder });
        equal(code, 1);
        ok(stderr.endsWith(` (${location})\n`), stderr);
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  }
});
