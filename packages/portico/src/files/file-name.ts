// Names of files: what may be shown and stored of a name that a caller sends, and how it is sent in a header.

import { storableText } from "../lib/storable-text.ts";

/** In characters. Most file systems allow 255 bytes. */
const maxNameLength = 200;
/** Characters of an extension that are kept when a name is shortened. */
const maxExtensionLength = 20;

/** Control characters, and those that change the direction of text: `gpj.exe` would be shown as `exe.jpg`. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The name without a path and without what cannot be seen; `file` if nothing is left. */
export function cleanFileName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!;
  const visible = storableText(last).replace(invisible, "").normalize("NFC");
  const characters = [...visible.replace(/^[.\s]+/, "").trimEnd()];
  if (characters.length === 0) return "file";
  if (characters.length <= maxNameLength) return characters.join("");
  const dot = characters.lastIndexOf(".");
  const extension = dot > 0 && characters.length - dot <= maxExtensionLength ? characters.slice(dot) : [];
  return [...characters.slice(0, maxNameLength - extension.length), ...extension].join("").trimEnd();
}

/** The value of `Content-Disposition` (RFC 6266), with the name as RFC 8187 encodes it. */
export function contentDisposition(kind: "inline" | "attachment", name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]/g, "_").replace(/["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
