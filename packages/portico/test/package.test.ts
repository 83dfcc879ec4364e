// The packages as others install them: by npm and the Node of the machine, from a registry, in a folder outside the
// repository.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { blocksOf } from "./support/document.ts";
import { whyMissing } from "./support/installed-programs.ts";
import { NpmRegistry } from "./support/npm-registry.ts";
import { NpmUser, type Running } from "./support/npm-user.ts";
import { type Answer, projectFolder } from "./support/server.ts";

describe("packages that npm installs", { skip: whyMissing("npm") }, () => {
  let registry: NpmRegistry;
  let user: NpmUser;
  /** The folder of the project. */
  let folder: string;
  let server: Running;
  let url: string;
  let key: string;

  before(async () => {
    const packed = execFileSync(process.execPath, [join(projectFolder, "packages/pack.ts")], {
      encoding: "utf8",
    });
    registry = await NpmRegistry.start(packed.trim().split("\n"));
    user = new NpmUser(registry.url);
    const created = await user.run(".", "npm", "create", "portico@latest", "my-api", "--", "--yes");
    equal(created.code, 0, created.output);
    folder = join(user.folder, "my-api");
    server = user.start("my-api", "npm", "start");
    [, url = ""] = await server.printed(/"url":"(http:[^"]+)"/);
    [, key = ""] = await server.printed(/\s{2}(sk_\w+_[\w-]{43})\n/);
  });

  after(async () => {
    await server?.stop();
    user?.remove();
    await registry?.stop();
  });

  /** The example of the page of the package. */
  function declarationOfReadme(): string {
    const readme = readFileSync(join(folder, "node_modules/portico/README.md"), "utf8");
    return blocksOf(readme).find(({ language }) => language === "ts")!.text;
  }

  /** @param body sent as JSON by POST */
  async function request(path: string, body?: unknown): Promise<Pick<Answer, "status" | "body">> {
    const response = await fetch(url + path, {
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  test("the installed package holds JavaScript, declarations and what npm shows, and no TypeScript sources", () => {
    const files = globSync("**/*.*", { cwd: join(folder, "node_modules/portico") });
    ok(existsSync(join(folder, "node_modules/portico/LICENSE")));
    for (const name of ["README.md", "CHANGELOG.md", "bin/portico.js", "src/index.js", "src/index.d.ts"])
      ok(files.includes(name), name);
    const needed =
      /^[A-Z]|^package\.json$|^bin\/|\.(js|d\.ts)$|^src\/reference-pages\/browser\/\w+\.css$|\/graphiql-texts\.(json\.br|LICENSE)$/;
    deepEqual(
      files.filter((name) => !needed.test(name)),
      [],
    );
  });

  test("the new project is served, over REST and GraphQL", async () => {
    const made = await request("/notes", { title: "Paint the door" });
    equal(made.status, 201);
    // A search is read in a thread, whose program is another file.
    const found = await request("/notes?q=door");
    equal(found.body.data[0].id, made.body.id);
    const answer = await request("/graphql", { query: "{ notes { title status } }" });
    deepEqual(answer.body, { data: { notes: [{ title: "Paint the door", status: "open" }] } });
  });

  test("MCP, whose SDK is not installed, says so", async () => {
    const { status, body } = await request("/mcp", { jsonrpc: "2.0", id: 1, method: "ping" });
    deepEqual([status, body.error.message], [503, "MCP is not set up on this server."]);
    await server.printed(/(npm install @modelcontextprotocol\/server)/);
  });

  test("the reference pages and GraphiQL are served, with their scripts and styles", async () => {
    for (const path of ["/docs", "/graphql"]) {
      const page = await (await fetch(url + path, { headers: { accept: "text/html" } })).text();
      const files = [...page.matchAll(/(?:src|<link rel="stylesheet" href)="(\/[^"]+)"/g)].map(
        ([, file]) => file!,
      );
      ok(files.length >= 2, page);
      for (const file of files) {
        const response = await fetch(url + file, { headers: { "accept-encoding": "br" } });
        deepEqual([response.status, response.headers.get("content-encoding")], [200, "br"], file);
        ok((await response.text()).length > 100, file);
      }
    }
  });

  test("the API is described by OpenAPI", async () => {
    const { body } = await request("/openapi.json");
    ok("/v1/notes" in body.paths);
  });

  test("the tests of the new project pass", async () => {
    const { code, output } = await user.run("my-api", "npm", "test");
    equal(code, 0, output);
    match(output, /pass 2\n/);
  });

  test("a program calls the API with the typed client, and the compiler checks programs and declarations", async () => {
    const program = `import { createClient } from "portico/client";
import type app from "../portico.config.ts";

const client = createClient<typeof app>({ baseUrl: process.argv[2]!, credential: process.argv[3]! });
const note = await client.notes.create({ title: "From a program" });
const status: "open" | "done" = note.status;
console.log(note.title, status);
`;
    writeFileSync(join(folder, "test/program.ts"), program);
    const called = await user.run("my-api", "npm", "exec", "--", "node", "test/program.ts", url, key);
    match(called.output, /^From a program open$/m);
    writeFileSync(join(folder, "resources/of-readme.ts"), declarationOfReadme());
    const wrong = 'import { text } from "portico";\n\ntext({ max: "10" });\n';
    writeFileSync(join(folder, "resources/wrong.ts"), wrong);
    writeFileSync(join(folder, "test/wrong.ts"), program.replace("title:", "titel:"));
    const { output } = await user.run("my-api", "npm", "run", "types", "--", "--singleThreaded");
    const errors = output.matchAll(/^(\S+): error TS/gm).map(([, position]) => position);
    deepEqual([...errors].sort(), ["resources/wrong.ts(3,8)", "test/wrong.ts(5,42)"]);
  });

  test("another version of Node is refused with one line", () => {
    const older = `data:text/javascript,${encodeURIComponent(
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "24.1.0" } });',
    )}`;
    const run = (...words: readonly string[]): { readonly status: number | null; readonly stderr: string } =>
      spawnSync(process.execPath, ["--import", older, ...words], { cwd: folder, encoding: "utf8" });
    const command = run("node_modules/portico/bin/portico.js", "--help");
    deepEqual(
      [command.status, command.stderr],
      [1, "portico: this is Node 24.1.0; Portico needs Node 26 or later\n"],
    );
    const program = run("--input-type=module", "--eval", 'import "portico";');
    equal(program.status, 1);
    match(program.stderr, /^Error: this is Node 24\.1\.0; Portico needs Node 26 or later$/m);
  });

  test("npm run dev serves the declaration of the package's README as soon as it is written", async () => {
    await server.stop();
    server = user.start("my-api", "npm", "run", "dev");
    [, url = ""] = await server.printed(/running at (http:\S+),/);
    equal((await request("/notes")).status, 200);
    writeFileSync(join(folder, "portico.config.ts"), declarationOfReadme());
    await server.printed(/^Restarted/m);
    const { status, body } = await request("/tasks", { title: "Paint the door" });
    deepEqual([status, body.state], [201, "open"]);
  });
});
