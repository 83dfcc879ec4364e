// Checks whether the path of the database still names the open file. If the file was moved, removed or replaced, writes
// to the open file are lost to every process that opens the path later.

import { closeSync, openSync, statSync } from "node:fs";

export class DatabaseFile {
  readonly path: string;
  readonly #opened: string | undefined;
  /** The identity of the write-ahead log, which exists from the first write on. */
  #openedLog: string | undefined;

  /** Call it when the file exists, immediately before or after it is opened. */
  constructor(path: string) {
    this.path = path;
    this.#opened = identityOf(path);
  }

  /** Whether the path still names the open file and its write-ahead log. */
  isInPlace(): boolean {
    if (identityOf(this.path) !== this.#opened) return false;
    const log = identityOf(`${this.path}-wal`);
    this.#openedLog ??= log;
    return log === this.#openedLog;
  }
}

/**
 * Creates an empty file, unless it exists, that only its owner may read. An existing file is not opened: closing it would
 * end all locks that this process has on it.
 */
export function createFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

function identityOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}
