// The name, colour and logo of the operator on the pages.

import { hash } from "node:crypto";

export interface Brand {
  readonly name: string;
  /** `#0b57d0`; undefined for the default colour. */
  readonly accent: string | undefined;
  readonly logo: Logo | undefined;
}

export interface Logo {
  readonly type: string;
  readonly bytes: Buffer;
  /** Identifies the content in the logo's URL, so that browsers can cache it for good. */
  readonly version: string;
}

/** Bytes. */
export const maxLogoBytes = 256 * 1024;

const imageTypes: readonly (readonly [type: string, matches: (bytes: Buffer) => boolean])[] = [
  ["image/png", (bytes) => bytes.subarray(0, 8).toString("latin1") === "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", (bytes) => bytes.subarray(0, 3).toString("latin1") === "\xff\xd8\xff"],
  ["image/webp", (bytes) => /^RIFF.{4}WEBP/s.test(bytes.subarray(0, 12).toString("latin1"))],
  [
    "image/svg+xml",
    (bytes) => /^\ufeff?\s*<(?:\?xml|!--|!DOCTYPE svg|svg)[\s\S]*<svg|^\s*<svg/.test(bytes.toString()),
  ],
];

/** A logo, whose type is recognized from its content; undefined for unsupported types. */
export function logoOf(bytes: Buffer): Logo | undefined {
  const type = imageTypes.find(([, matches]) => matches(bytes))?.[0];
  if (type === undefined) return undefined;
  return { type, bytes, version: hash("sha256", bytes, "base64url").slice(0, 16) };
}
