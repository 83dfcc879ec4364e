// The types that `portico types` prints are those that the client infers, and many resources compile.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { portico, projectFolder } from "../support/server.ts";

const same = `import type { ApiOf } from "portico/client";
import type app from "./examples/tracker/portico.config.ts";
import type { Api } from "./portico-types.d.ts";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Differing<A, B> = {
  [Name in keyof B & string]: Name extends keyof A
    ? {
        [Member in keyof B[Name] & string]: Member extends keyof A[Name]
          ? Same<A[Name][Member], B[Name][Member]> extends true ? never : \`\${Name}.\${Member}\`
          : \`\${Name}.\${Member}\`;
      }[keyof B[Name] & string]
    : Name;
}[keyof B & string];
type Inferred = ApiOf<typeof app>;
// The printed types know the names of roles.
type Roles = \`\${"users" | "invitations"}.\${"row" | "create" | "update"}\` | "invitations.actions";
export const resources: { [Name in Exclude<Differing<Inferred["resources"], Api["resources"]>, Roles>]: never } = {};
export const routes: { [Name in Differing<Inferred["routes"], Api["routes"]>]: never } = {};
export const missing: { [Name in Exclude<keyof Inferred["resources"], keyof Api["resources"]>]: never } = {};
`;

const count = 20;
const numbers = Array.from({ length: count }, (_, index) => index);
const declarations = numbers.map((index) => {
  const references = [index - 1, index - 5].filter((each) => each >= 0);
  return `export const things${index} = resource("thing${index}", {
  fields: {
    title: text({ max: 200 }),
    status: choice(["draft", "live"], { default: "draft" }),
    author: belongsTo(() => users, { default: "caller" }),
    ${references.map((each, place) => `other${place}: belongsTo(() => things${each}, { optional: true }),`).join(" ")}
  },
  filter: ["status", "author.name", range("createdAt")${references.length > 0 ? ', "other0.status"' : ""}],
  sort: ["title"],
  actions: { closings: { input: { reason: text() }, run: async ({ current }): Promise<typeof current> => current } },
});`;
});
const many = `import { app, belongsTo, choice, range, resource, text, users } from "portico";
import { createClient } from "portico/client";
${declarations.join("\n")}
const declared = app({ name: "Many", resources: [${numbers.map((index) => `things${index}`)}] });
const client = createClient<typeof declared>({ baseUrl: "http://127.0.0.1:3000" });
export async function use(): Promise<void> {
${numbers
  .map(
    (
      index,
    ) => `  for await (const { title } of client.thing${index}s.all({ status: "live", sort: "-title", fields: ["title"] }))
    await client.thing${index}s.closings((await client.thing${index}s.create({ title })).id, { reason: "x" });
  // @ts-expect-error there is no such field
  await client.thing${index}s.list({ fields: ["titel"] });`,
  )
  .join("\n")}
}
`;

test("printed types are the inferred ones, and a project of many resources compiles", async () => {
  const folder = mkdtempSync(join(tmpdir(), "portico-types-"));
  try {
    const options = { cwd: join(projectFolder, "examples/tracker") };
    const words = ["types", "--out", join(folder, "portico-types.d.ts")];
    const check = () => portico({ databaseUrl: "" }, [...words, "--check"], options);
    assert.match((await check()).stderr, /is not up to date; run: portico types --out/);
    assert.equal((await portico({ databaseUrl: "" }, words, options)).code, 0);
    assert.match((await check()).stdout, /is up to date/);
    assert.doesNotMatch(readFileSync(words[2]!, "utf8"), /import/);

    for (const name of ["node_modules", "examples"])
      symlinkSync(join(projectFolder, name), join(folder, name));
    // With "declaration", every type that a declaration has must be exported by `portico`.
    const { compilerOptions } = JSON.parse(readFileSync(join(projectFolder, "tsconfig.json"), "utf8"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...compilerOptions, declaration: true }, include: ["*.ts"] }),
    );
    writeFileSync(join(folder, "same.ts"), same);
    writeFileSync(join(folder, "many.ts"), many);
    const tsc = join(projectFolder, "node_modules/.bin/tsc");
    // With several threads, each infers the types that they share.
    const compilerWords = ["-p", folder, "--extendedDiagnostics", "--singleThreaded"];
    const { stdout, status } = spawnSync(tsc, compilerWords, { encoding: "utf8" });
    assert.equal(status, 0, stdout);
    // Types that grow with the square of the number of resources would need many more.
    const instantiations = Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1]);
    assert.ok(instantiations > 0 && instantiations < 2_200_000, `${instantiations} instantiations`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
