// Responses that are the same for every caller: compressed once for each content coding, with an entity tag, and sent from
// memory.

import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { matchesTag } from "../query/entity-tag.ts";

/** Content codings (RFC 9110, section 8.4.1), the smallest first. */
const codings = ["br", "gzip", "identity"] as const;
export type ContentCoding = (typeof codings)[number];

/** A response body in one coding. */
export interface EncodedBody {
  /** Its media type. */
  readonly type: string;
  readonly etag: string;
  readonly body: Buffer;
}

/** Of Brotli, from 0 to 11: responses are compressed while requests wait for them. */
const quality = 6;

const encoders: Readonly<Record<ContentCoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes) => promisify(gzip)(bytes),
  identity: async (bytes) => bytes,
};

export function encode(bytes: Buffer, coding: ContentCoding): Promise<Buffer> {
  return encoders[coding](bytes);
}

/** The smallest coding that the request accepts, or else none. */
export function codingFor({ headers }: FastifyRequest): ContentCoding {
  const accepted = new Negotiator({ headers }).encodings([...codings]);
  return codings.find((coding) => accepted.includes(coding)) ?? "identity";
}

/** Sends a body, or 304 if the request has it already (RFC 9110, section 13.1.2). The response has `Vary`. */
export function sendEncoded(
  { headers: { "if-none-match": cached } }: FastifyRequest,
  reply: FastifyReply,
  { type, etag, body }: EncodedBody,
  coding: ContentCoding,
): FastifyReply {
  reply.header("ETag", etag).header("Vary", "Accept-Encoding");
  if (cached !== undefined && matchesTag(cached, etag, true)) return reply.code(304).send();
  if (coding !== "identity") reply.header("Content-Encoding", coding);
  return reply.header("Content-Type", type).send(body);
}
