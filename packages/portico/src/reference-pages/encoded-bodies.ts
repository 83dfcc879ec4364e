// Pages and files as they are sent: rendered and compressed at their first request, once for all that wait for them.

import { hash } from "node:crypto";
import { type ContentCoding, type EncodedBody, encode } from "../api/encoded-responses.ts";
import { BoundedMap } from "../lib/bounded-map.ts";

/** Memory for encoded pages and files. */
const maxCachedBytes = 16 * 1024 * 1024;

export interface Content {
  readonly type: string;
  readonly bytes: Buffer;
}

export class EncodedBodies {
  readonly #known = new BoundedMap<string, EncodedBody>(maxCachedBytes, (_, { body }) => body.length);
  readonly #encoding = new Map<string, Promise<EncodedBody | undefined>>();

  /** @param contentOf undefined if there is nothing at the path */
  async get(
    path: string,
    coding: ContentCoding,
    contentOf: () => Promise<Content | undefined>,
  ): Promise<EncodedBody | undefined> {
    const key = `${coding} ${path}`;
    const known = this.#known.get(key);
    if (known) return known;
    const encoding = this.#encoding.get(key) ?? this.#encode(key, coding, contentOf);
    return encoding;
  }

  async #encode(
    key: string,
    coding: ContentCoding,
    contentOf: () => Promise<Content | undefined>,
  ): Promise<EncodedBody | undefined> {
    const encoding = encoded(contentOf, coding);
    this.#encoding.set(key, encoding);
    try {
      const body = await encoding;
      if (body) this.#known.set(key, body);
      return body;
    } finally {
      this.#encoding.delete(key);
    }
  }
}

async function encoded(
  contentOf: () => Promise<Content | undefined>,
  coding: ContentCoding,
): Promise<EncodedBody | undefined> {
  const content = await contentOf();
  if (!content) return undefined;
  const { type, bytes } = content;
  const digest = hash("sha256", bytes, "hex").slice(0, 16);
  return { type, etag: `"${digest}-${coding}"`, body: await encode(bytes, coding) };
}
