// The scripts and styles of GraphiQL as static files. Their names contain a digest of their content, so browsers can cache
// them for ever. Each file is encoded once.

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type ContentCoding, codingFor, type EncodedBody, sendEncoded } from "../../api/encoded-responses.ts";
import { Problem } from "../../errors.ts";

export type GraphiqlFileName =
  | "graphiql.js"
  | "graphiql.css"
  | "editor-worker.js"
  | "graphql-worker.js"
  | "json-worker.js";

export interface GraphiqlFile {
  readonly name: GraphiqlFileName;
  /** The digest of the content before it is encoded. */
  readonly digest: string;
  readonly body: Uint8Array;
}

/** All files in one coding. */
interface EncodedFiles {
  readonly names: Readonly<Record<GraphiqlFileName, string>>;
  readonly files: ReadonlyMap<string, EncodedBody>;
}

const encoded = new Map<ContentCoding, Promise<EncodedFiles>>();

/** The files in one coding. They are encoded at the first request. */
function filesIn(coding: ContentCoding): Promise<EncodedFiles> {
  const cached = encoded.get(coding);
  if (cached) return cached;
  const encodedFiles = encodeFiles(coding);
  encoded.set(coding, encodedFiles);
  // After a failure, for example to start the process, the next request tries again.
  encodedFiles.catch(() => encoded.delete(coding));
  return encodedFiles;
}

const encoder = fileURLToPath(new URL("./graphiql-process.ts", import.meta.url));

function encodedBy(child: ChildProcess): Promise<readonly GraphiqlFile[]> {
  return new Promise((resolve, reject) => {
    child.once("message", (files) => resolve(files as GraphiqlFile[]));
    child.once("error", reject);
    child.once("exit", () => reject(new Error("the process that encodes GraphiQL exited without a result")));
  });
}

async function encodeFiles(coding: ContentCoding): Promise<EncodedFiles> {
  const encodedFiles = await encodedBy(
    fork(encoder, [coding], { env: {}, execArgv: [], serialization: "advanced" }),
  );
  const names = encodedFiles.map(({ name, digest }) => [name, name.replace(".", `.${digest}.`)]);
  const files = encodedFiles.map(({ name, digest, body }): [string, EncodedBody] => [
    name.replace(".", `.${digest}.`),
    {
      type: name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
      etag: `"${digest}-${coding}"`,
      body: Buffer.from(body),
    },
  ]);
  // The process sends a file for each name.
  return { names: Object.fromEntries(names) as EncodedFiles["names"], files: new Map(files) };
}

/** The file names for a page: `graphiql.6f1c….js` for each name. */
export async function graphiqlFileNames(request: FastifyRequest): Promise<EncodedFiles["names"]> {
  return (await filesIn(codingFor(request))).names;
}

const headers = {
  "Cache-Control": "public, max-age=31536000, immutable",
  "X-Content-Type-Options": "nosniff",
  // A worker has the policy of its own response, and loads nothing.
  "Content-Security-Policy": "default-src 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  // Pages never request part of a file.
  "Accept-Ranges": "none",
};

/**
 * Serves the files under `path`, without a credential: a page cannot send one for its scripts.
 *
 * @param countFile counts the request against the client's address; throws if there were too many
 */
export function serveGraphiqlFiles(
  server: FastifyInstance,
  path: string,
  countFile: (request: FastifyRequest) => Promise<void>,
): void {
  // Pages of other origins do not need them.
  const config = { isOpenTo: () => true, ignoresAccept: true, hasOwnCors: true };
  server.get<{ Params: { file: string } }>(`${path}/:file`, { config }, async (request, reply) => {
    await countFile(request);
    const coding = codingFor(request);
    const file = (await filesIn(coding)).files.get(request.params.file);
    if (!file) throw new Problem("not_found", "The file does not exist.");
    reply.headers(headers);
    return sendEncoded(request, reply, file, coding);
  });
}
