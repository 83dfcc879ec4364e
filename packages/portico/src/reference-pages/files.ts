// The scripts and style sheets of the reference pages. Their path contains a digest of their contents, so that browsers
// can cache them forever.

import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { themeRules } from "../oauth/pages/layout.ts";

const names = [
  "frame.css",
  "content.css",
  "reference.js",
  "navigation.js",
  "search.js",
  "samples.js",
  "request-form.js",
] as const;

export interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface StaticFiles {
  readonly digest: string;
  readonly files: ReadonlyMap<string, StaticFile>;
}

/** Reads the files. @param accent the accent colour of the brand */
export function readFiles(accent: string | undefined): StaticFiles {
  const files = names.map((name): [string, StaticFile] => {
    const text = readFileSync(new URL(`./browser/${name}`, import.meta.url), "utf8");
    const rules = name === "frame.css" ? `${themeRules(accent)}\n` : "";
    const type = name.endsWith(".css") ? "text/css" : "text/javascript";
    return [name, { type: `${type}; charset=utf-8`, bytes: Buffer.from(rules + text) }];
  });
  const contents = Buffer.concat(files.map(([, { bytes }]) => bytes));
  return { digest: hash("sha256", contents, "hex").slice(0, 16), files: new Map(files) };
}
