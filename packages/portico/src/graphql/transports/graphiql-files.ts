// The scripts and styles of GraphiQL as static files. Their names carry a digest of their content, so that browsers keep
// them for good. Each is encoded once, and every reader is sent the same bytes.

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { Problem } from "../../errors.ts";
import { matchesTag } from "../../query/entity-tag.ts";

export type GraphiqlFileName =
  | "graphiql.js"
  | "graphiql.css"
  | "editor-worker.js"
  | "graphql-worker.js"
  | "json-worker.js";

/** How a file may be encoded on its way (RFC 9110, section 8.4.1), the smallest first. */
const codings = ["br", "gzip", "identity"] as const;
export type ContentCoding = (typeof codings)[number];

export interface GraphiqlFile {
  readonly name: GraphiqlFileName;
  /** Of what it holds before it is encoded. */
  readonly digest: string;
  readonly body: Uint8Array;
}

interface EncodedFile {
  readonly type: string;
  readonly etag: string;
  readonly body: Buffer;
}

/** All files in one coding: the address of each, and what stands at each address. */
interface EncodedFiles {
  readonly addresses: Readonly<Record<GraphiqlFileName, string>>;
  readonly files: ReadonlyMap<string, EncodedFile>;
}

const encoded = new Map<ContentCoding, Promise<EncodedFiles>>();

/** The files in one coding; they are encoded when somebody first asks for them. */
function filesIn(coding: ContentCoding): Promise<EncodedFiles> {
  const cached = encoded.get(coding);
  if (cached) return cached;
  const encodedFiles = encodeFiles(coding);
  encoded.set(coding, encodedFiles);
  // What failed once, as where there is no memory for a process, is tried again by the next request.
  encodedFiles.catch(() => encoded.delete(coding));
  return encodedFiles;
}

const encoder = fileURLToPath(new URL("./graphiql-process.ts", import.meta.url));

function encodedBy(child: ChildProcess): Promise<readonly GraphiqlFile[]> {
  return new Promise((resolve, reject) => {
    child.once("message", (files) => resolve(files as GraphiqlFile[]));
    child.once("error", reject);
    child.once("exit", () => reject(new Error("the process that encodes GraphiQL ended early")));
  });
}

async function encodeFiles(coding: ContentCoding): Promise<EncodedFiles> {
  const encodedFiles = await encodedBy(
    fork(encoder, [coding], { env: {}, execArgv: [], serialization: "advanced" }),
  );
  const addresses = encodedFiles.map(({ name, digest }) => [name, name.replace(".", `.${digest}.`)]);
  const files = encodedFiles.map(({ name, digest, body }): [string, EncodedFile] => [
    name.replace(".", `.${digest}.`),
    {
      type: name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
      etag: `"${digest}-${coding}"`,
      body: Buffer.from(body),
    },
  ]);
  // The process answers with a file for each name.
  return { addresses: Object.fromEntries(addresses) as EncodedFiles["addresses"], files: new Map(files) };
}

/** The smallest that the request accepts; one that accepts none of them gets the file as it is. */
function codingFor({ headers }: FastifyRequest): ContentCoding {
  const accepted = new Negotiator({ headers }).encodings([...codings]);
  return codings.find((coding) => accepted.includes(coding)) ?? "identity";
}

/** Where the files stand that a page needs, `graphiql.6f1c….js` for each name. */
export async function graphiqlAddresses(request: FastifyRequest): Promise<EncodedFiles["addresses"]> {
  return (await filesIn(codingFor(request))).addresses;
}

const headers = {
  "Cache-Control": "public, max-age=31536000, immutable",
  Vary: "Accept-Encoding",
  "X-Content-Type-Options": "nosniff",
  // Workers are held to the policy that they come with, and need nothing from anywhere.
  "Content-Security-Policy": "default-src 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  // A part of a file is of no use to a page.
  "Accept-Ranges": "none",
};

/**
 * Serves the files below `path`. They need no credential: a page cannot send one for its scripts.
 *
 * @param countFile counts the request for its address; throws where there were too many
 */
export function serveGraphiqlFiles(
  server: FastifyInstance,
  path: string,
  countFile: (request: FastifyRequest) => Promise<void>,
): void {
  // No page of another origin needs them.
  const config = { isOpenTo: () => true, ignoresAccept: true, hasOwnCors: true };
  server.get<{ Params: { file: string } }>(`${path}/:file`, { config }, async (request, reply) => {
    await countFile(request);
    const coding = codingFor(request);
    const file = (await filesIn(coding)).files.get(request.params.file);
    if (!file) throw new Problem("not_found", "There is no such file.");
    return sendFile(request, reply, file, coding);
  });
}

function sendFile(
  { headers: { "if-none-match": cached } }: FastifyRequest,
  reply: FastifyReply,
  { type, etag, body }: EncodedFile,
  coding: ContentCoding,
): FastifyReply {
  reply.headers({ ...headers, ETag: etag });
  if (cached !== undefined && matchesTag(cached, etag, true)) return reply.code(304).send();
  if (coding !== "identity") reply.header("Content-Encoding", coding);
  return reply.header("Content-Type", type).send(body);
}
