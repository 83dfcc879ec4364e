// `GET /openapi.json`. The description is made and compressed at the first request.

import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  type ContentCoding,
  codingFor,
  type EncodedBody,
  encode,
  sendEncoded,
} from "../api/encoded-responses.ts";
import { openApiPath } from "../api/paths.ts";
import type { DescribedApi } from "./describe-api.ts";

const headers = {
  // Clients must learn of a new version of the API soon.
  "Cache-Control": "public, max-age=60",
  // It is the same for everybody, and pages of other origins may read it.
  "Access-Control-Allow-Origin": "*",
};

/**
 * Registers the route. It needs no credential.
 *
 * @param count counts the request towards the quota of its address
 */
export function registerOpenApi(
  server: FastifyInstance,
  api: Promise<DescribedApi>,
  count: (request: FastifyRequest) => Promise<void>,
): void {
  let description: Promise<Description> | undefined;
  const encoded = new Map<ContentCoding, Promise<EncodedBody>>();
  const encodedIn = (coding: ContentCoding): Promise<EncodedBody> => {
    const known = encoded.get(coding);
    if (known) return known;
    // handled: every form of it waits for it.
    description ??= api.then(describe);
    const encoding = description.then((each) => encodedDescription(each, coding));
    encoded.set(coding, encoding);
    // handled: the request waits for it as well. The next one tries again.
    encoding.catch(() => {
      encoded.delete(coding);
      description = undefined;
    });
    return encoding;
  };
  const config = { mediaTypes: ["application/json", "application/openapi+json"], hasOwnCors: true };
  server.get(openApiPath, { config }, async (request, reply) => {
    await count(request);
    const coding = codingFor(request);
    const body = await encodedIn(coding);
    reply.headers(headers);
    return sendEncoded(request, reply, body, coding);
  });
}

/** Describing an API of hundreds of resources takes a second, and its text has megabytes: only the smallest form is kept. */
interface Description {
  readonly digest: string;
  /** In Brotli. */
  readonly compressed: Buffer;
}

async function describe(api: DescribedApi): Promise<Description> {
  const { describeApi } = await import("./describe-api.ts");
  const text = Buffer.from(JSON.stringify(describeApi(api)));
  return { digest: hash("sha256", text, "base64url").slice(0, 22), compressed: await encode(text, "br") };
}

async function encodedDescription(
  { digest, compressed }: Description,
  coding: ContentCoding,
): Promise<EncodedBody> {
  const body =
    coding === "br" ? compressed : await encode(await promisify(brotliDecompress)(compressed), coding);
  return { type: "application/json; charset=utf-8", etag: `"${digest}-${coding}"`, body };
}
