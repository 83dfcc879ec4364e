// Whose pages they are: the name, colour and logo that people see.

import { hash } from "node:crypto";

export interface Brand {
  readonly name: string;
  /** `#0b57d0`; undefined for Portico's own. */
  readonly accent: string | undefined;
  readonly logo: Logo | undefined;
}

export interface Logo {
  readonly type: string;
  readonly bytes: Buffer;
  /** Tells one logo from another in its address. */
  readonly version: string;
}

/** Bytes. */
export const maxLogoBytes = 256 * 1024;

const imageTypes: readonly (readonly [type: string, isOne: (bytes: Buffer) => boolean])[] = [
  ["image/png", (bytes) => bytes.subarray(0, 8).toString("latin1") === "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", (bytes) => bytes.subarray(0, 3).toString("latin1") === "\xff\xd8\xff"],
  ["image/webp", (bytes) => /^RIFF.{4}WEBP/s.test(bytes.subarray(0, 12).toString("latin1"))],
  [
    "image/svg+xml",
    (bytes) => /^\ufeff?\s*<(?:\?xml|!--|!DOCTYPE svg|svg)[\s\S]*<svg|^\s*<svg/.test(bytes.toString()),
  ],
];

/** A logo, recognised by what is in it and not by its name; undefined for what is none. */
export function logoOf(bytes: Buffer): Logo | undefined {
  const type = imageTypes.find(([, matches]) => matches(bytes))?.[0];
  if (type === undefined) return undefined;
  return { type, bytes, version: hash("sha256", bytes, "base64url").slice(0, 16) };
}
