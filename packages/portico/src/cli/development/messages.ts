// The messages between `portico dev` and the processes that serve.

import type { DeclaredParts } from "./declared-parts.ts";

/** To a process. A connection comes as the text `connection`, with its socket. */
export type Instruction =
  | { readonly kind: "load"; readonly previous: DeclaredParts | undefined }
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "close" };

/** A file of a project, and the hash of its contents; undefined if it does not exist. */
export type FileHashes = Readonly<Record<string, string | undefined>>;

/** The process serves the declarations. */
export interface Serving {
  readonly kind: "serving";
  readonly url: string;
  /** The first key of an empty sandbox, and the text that shows it. */
  readonly key: string | undefined;
  readonly greeting: string;
  readonly name: string;
  /** The differences to `previous` of the instruction, in lines. */
  readonly changes: readonly string[];
  readonly parts: DeclaredParts;
  readonly files: FileHashes;
}

/** The declarations cannot be served. */
export interface Faulty {
  readonly kind: "faulty";
  readonly message: string;
  readonly files: FileHashes;
}

/** From a process. */
export type Report =
  | { readonly kind: "loading" }
  /** The declarations load a file. Those that never finish are reported by nothing else. */
  | { readonly kind: "file"; readonly path: string; readonly hash: string | undefined }
  | { readonly kind: "settings"; readonly host: string; readonly port: number }
  /** The process answers no further request on the connections that it had. */
  | { readonly kind: "released" }
  | Serving
  | Faulty;

/** Why `portico dev` refuses live mode. */
export const liveMode = "portico dev serves a sandbox only; in live mode use portico serve";
