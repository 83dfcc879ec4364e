// The file that the path of the database names. It may be moved, removed or replaced while it is open: what is then
// written to the open one is lost for whoever opens the path next.

import { statSync } from "node:fs";

export class DatabaseFile {
  readonly path: string;
  readonly #opened: string | undefined;
  /** That of the write-ahead log, which is there from the first write on. */
  #openedLog: string | undefined;

  /** Call it when the file is there and just before, or after, it is opened. */
  constructor(path: string) {
    this.path = path;
    this.#opened = identityOf(path);
  }

  /** Whether the path names the file that is open, and its log. */
  isInPlace(): boolean {
    if (identityOf(this.path) !== this.#opened) return false;
    const log = identityOf(`${this.path}-wal`);
    this.#openedLog ??= log;
    return log === this.#openedLog;
  }
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}
