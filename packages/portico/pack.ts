// What the tarball of portico holds besides its compiled sources: the changelog, GraphiQL, and what browsers load.

import { copyFileSync, cpSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import * as texts from "./src/graphql/transports/graphiql-texts.ts";

const project = resolve(import.meta.dirname, "../..");

export function complete(built: string): void {
  copyFileSync(join(project, "CHANGELOG.md"), join(built, "CHANGELOG.md"));
  addGraphiql(built);
  const files = "src/reference-pages/browser";
  const isLoaded = (name: string): boolean => !name.endsWith(".json");
  cpSync(join(import.meta.dirname, files), join(built, files), { recursive: true, filter: isLoaded });
}

/** Puts GraphiQL into the package, in a ninth of the size, instead of 32 packages that would be installed with it. */
function addGraphiql(built: string): void {
  const folder = join(built, "src/graphql/transports");
  const json = Buffer.from(JSON.stringify(texts));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: json.length,
  };
  writeFileSync(join(folder, "graphiql-texts.json.br"), brotliCompressSync(json, { params }));
  writeFileSync(join(folder, "graphiql-texts.js"), readerOf(Object.keys(texts)));
  const graphiql = dirname(fileURLToPath(import.meta.resolve("@graphql-yoga/render-graphiql/package.json")));
  copyFileSync(join(graphiql, "LICENSE"), join(folder, "graphiql-texts.LICENSE"));
}

/** A module that exports the texts of the file beside it. */
function readerOf(names: readonly string[]): string {
  return `import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
const file = new URL("./graphiql-texts.json.br", import.meta.url);
export const { ${names.join(", ")} } = JSON.parse(brotliDecompressSync(readFileSync(file)).toString());
`;
}
