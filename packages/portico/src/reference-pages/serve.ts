// Serves the reference pages at `/docs`. A page is rendered and compressed at its first request.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { codingFor, sendEncoded } from "../api/encoded-responses.ts";
import { referencePath } from "../api/paths.ts";
import { Problem } from "../errors.ts";
import { type Content, EncodedBodies } from "./encoded-bodies.ts";
import { readFiles } from "./files.ts";
import type { ReferencePages } from "./pages.ts";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

const headers = {
  "Content-Security-Policy": policy.join("; "),
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
};
const pageHeaders = { "Cache-Control": "no-cache" };
const fileHeaders = { "Cache-Control": "public, max-age=31536000, immutable" };

export interface ServedPages {
  /** The accent colour of the brand. */
  readonly accent: string | undefined;
  /** Called once. @param files the path of the script and the style sheet, below that of the pages */
  readonly pagesOf: (files: string) => Promise<ReferencePages>;
  /** Counts the request for the address that it comes from. @throws Problem `rate_limited` */
  readonly count: (request: FastifyRequest) => Promise<void>;
}

/** Registers the routes. They need no credential. */
export function registerReferencePages(
  server: FastifyInstance,
  basePath: string,
  { accent, pagesOf, count }: ServedPages,
): void {
  const files = lazy(() => readFiles(accent));
  const pages = lazy(() => pagesOf(`/files/${files().digest}`));
  const bodies = new EncodedBodies();

  /** Sends content that `contentOf` returns, from memory if it is there. Errors get no headers of the content. */
  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    contentOf: () => Promise<Content | undefined>,
    contentHeaders: Readonly<Record<string, string>> = pageHeaders,
  ): Promise<FastifyReply> {
    reply.headers(headers);
    await count(request);
    const coding = codingFor(request);
    const body = await bodies.get(path, coding, contentOf);
    if (!body) throw new Problem("not_found", "There is no such page.");
    reply.headers(contentHeaders);
    return sendEncoded(request, reply, body, coding);
  }

  async function sendPage(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
    return send(request, reply, path, async () => {
      const text = (await pages()).documentAt(path);
      return text === undefined ? undefined : { type: "text/html; charset=utf-8", bytes: Buffer.from(text) };
    });
  }

  // Browsers ask for style sheets and scripts with other types, and pages of other origins need none of this.
  const config = { ignoresAccept: true, hasOwnCors: true };
  server.get(referencePath, { config }, (request, reply) => sendPage(request, reply, ""));
  server.get(`${referencePath}/`, { config }, (_, reply) => reply.redirect(basePath + referencePath, 308));
  server.get<{ Params: { page: string } }>(`${referencePath}/:page`, { config }, (request, reply) =>
    sendPage(request, reply, `/${request.params.page}`),
  );
  server.get<{ Params: { tag: string } }>(`${referencePath}/operations/:tag`, { config }, (request, reply) =>
    sendPage(request, reply, `/operations/${request.params.tag}`),
  );
  server.get(`${referencePath}/search.json`, { config }, (request, reply) =>
    send(request, reply, "/search.json", async () => ({
      type: "application/json; charset=utf-8",
      bytes: Buffer.from(JSON.stringify((await pages()).searchIndex())),
    })),
  );
  server.get<{ Params: { digest: string; name: string } }>(
    `${referencePath}/files/:digest/:name`,
    { config },
    async (request, reply) => {
      const { digest, name } = request.params;
      const file = digest === files().digest ? files().files.get(name) : undefined;
      if (!file) throw new Problem("not_found", "There is no such file.");
      return send(request, reply, `/files/${name}`, async () => file, fileHeaders);
    },
  );
}

/** Calls a function when its result is first needed. */
function lazy<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}
