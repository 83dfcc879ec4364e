// Encodes the files of GraphiQL in a separate process. Node never releases an imported module, and the package has nine
// megabytes; the encoded files have a quarter of that, and the other memory is released with the process. A worker thread
// left seventy megabytes in the server.

import { hash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { ContentCoding } from "../../api/encoded-responses.ts";
import type { GraphiqlFile, GraphiqlFileName } from "./graphiql-files.ts";
import { css, editorWorkerService, graphqlWorker, js, jsonWorker } from "./graphiql-texts.ts";

/**
 * Asks for a key, verifies it, and opens GraphiQL with it. The key stays in the page. The script reads its settings from
 * the page, so the file does not depend on the server's URL.
 */
const start = `
(() => {
  const { workers, options } = JSON.parse(document.getElementById("start").textContent);
  self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_module, label) => workers[label] };
  const form = document.getElementById("key-form");
  const keyError = document.getElementById("key-error");
  const errorFor = async (authorization) => {
    try {
      const response = await fetch(options.endpoint, {
        method: "POST",
        headers: { Authorization: authorization, "Content-Type": "application/json" },
        body: JSON.stringify({ query: "{ __typename }" }),
      });
      const { error, errors } = await response.json();
      return (error ?? errors?.[0])?.message;
    } catch (error) {
      return error.message;
    }
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const authorization = "Bearer " + document.getElementById("key").value.trim();
    keyError.textContent = (await errorFor(authorization)) ?? "";
    if (keyError.textContent !== "") return;
    form.remove();
    const headers = JSON.stringify({ Authorization: authorization });
    YogaGraphiQL.renderYogaGraphiQL(document.getElementById("root"), { ...options, headers });
  });
  form.hidden = false;
  document.getElementById("key").focus();
})();
`;

const texts: Readonly<Record<GraphiqlFileName, string>> = {
  "graphiql.js": `${js};${start}`,
  "graphiql.css": css,
  "editor-worker.js": editorWorkerService,
  "graphql-worker.js": graphqlWorker,
  "json-worker.js": jsonWorker,
};

/** Higher levels take three times as long and save 3 percent. */
const encode: Readonly<Record<ContentCoding, (bytes: Buffer) => Uint8Array>> = {
  br: (bytes) =>
    brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes) => gzipSync(bytes, { level: 6 }),
  identity: (bytes) => bytes,
};

// Set by graphiql-files.ts.
const coding = process.argv[2] as ContentCoding;
const files = Object.entries(texts).map(([name, text]): GraphiqlFile => {
  const bytes = Buffer.from(text);
  const digest = hash("sha256", bytes, "hex").slice(0, 16);
  // The names are the keys of `texts`.
  return { name: name as GraphiqlFileName, digest, body: encode[coding](bytes) };
});
process.send!(files, () => process.disconnect!());
