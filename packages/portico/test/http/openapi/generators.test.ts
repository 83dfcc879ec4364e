// Generators of clients understand the description: what they make compiles, and calls the server.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { serve } from "../../support/scenario.ts";
import { projectFolder } from "../../support/server.ts";

const generators = join(projectFolder, "tools/client-generators");

/** A program that is typed by the description. */
const program = `
import createClient from "openapi-fetch";
import type { components, paths } from "./api.d.ts";

const [baseUrl = "", key = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });

const created = await client.POST("/v1/posts", { body: { title: "Typed" } });
const post: components["schemas"]["Post"] | undefined = created.data;
const page = await client.GET("/v1/posts", { params: { query: { status: ["draft", "archived"], limit: 1 } } });
const titles: string[] | undefined = page.data?.data.map(({ title }) => title);
const failed = await client.GET("/v1/posts/{id}", { params: { path: { id: "post_x" } } });
const code: components["schemas"]["Error"]["error"]["code"] | undefined = failed.error?.error.code;

// @ts-expect-error a post has no such field
created.data?.headline;
// @ts-expect-error the title is required
client.POST("/v1/posts", { body: {} }).catch(() => {});
// @ts-expect-error there is no such path
client.GET("/v1/articles").catch(() => {});

console.log(JSON.stringify({ id: post?.id.slice(0, 5), titles, code }));
`;

describe("a generated client", () => {
  const server = serve("sqlite");
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "portico-generated-"));
    symlinkSync(join(projectFolder, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const { text } = await server.request("/openapi.json", { key: null });
    writeFileSync(join(folder, "openapi.json"), text);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** The server of the suite answers meanwhile. @returns what the program prints */
  async function run(...words: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder });
    return stdout;
  }

  test("compiles, from openapi-typescript and from Hey API, and the first calls the server", async () => {
    // Otherwise it requires fields that have a default.
    const options = ["openapi.json", "--default-non-nullable=false", "-o", "api.d.ts"];
    await run(join(generators, "node_modules/.bin/openapi-typescript"), ...options);
    const heyApi = join(projectFolder, "node_modules/@hey-api/openapi-ts/dist/run.mjs");
    const hooks = join(generators, "typescript-5.mjs");
    await run("--import", hooks, heyApi, "-i", "openapi.json", "-o", "hey");
    writeFileSync(join(folder, "program.ts"), program);
    writeFileSync(
      join(folder, "sdk.ts"),
      `import { createPost, type Post } from "./hey";
export const create = async (title: string): Promise<Post | undefined> => (await createPost({ body: { title } })).data;
`,
    );
    const compilerOptions = {
      ...{ target: "esnext", module: "esnext", moduleResolution: "bundler", lib: ["esnext", "dom"] },
      ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, types: ["node"] },
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, include: ["*.ts", "hey"] }),
    );
    await run(join(projectFolder, "node_modules/typescript/bin/tsc"), "-p", folder, "--singleThreaded");
    const output = await run("program.ts", server.url, server.portico.key);
    assert.deepEqual(JSON.parse(output), { id: "post_", titles: ["Typed"], code: "not_found" });
  });
});
