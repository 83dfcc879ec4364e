// Where the contents of files are kept.

import type { Readable } from "node:stream";

/** The bytes of a content that are read, counted from 0; `end` is the last one. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** All of its operations throw a Problem `unavailable` where the storage does not answer or is full. */
export interface FileStorage {
  /** The folder for contents that are being received. */
  readonly incoming: string;
  /** Takes over the content in a file of `incoming`. Once it returns, the content is safe from a crash. */
  put(id: string, path: string, type: string): Promise<void>;
  /** The content, or a part of it; undefined if there is none. */
  get(id: string, range: ByteRange | undefined): Promise<Readable | undefined>;
  /** Deletes a content, if there is one. */
  delete(id: string): Promise<void>;
}
