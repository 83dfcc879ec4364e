// Watches the files that declarations were loaded from. It compares contents: saving a file unchanged does nothing.

import { existsSync, type FSWatcher, statSync, watch } from "node:fs";
import { dirname, join, sep } from "node:path";
import { hashOfFile } from "./file-hash.ts";
import type { FileHashes } from "./messages.ts";

/** Editors write a file in several steps, and tools several files. */
const settleMs = 40;
/** How long a file may be empty or missing while an editor replaces it. */
const replaceMs = 150;
/** Finds what the file system does not announce, such as changes of a folder that another machine shares. */
const pollMs = 1_000;

export class FileWatcher {
  readonly #onChange: (files: readonly string[]) => void;
  readonly #folders = new Map<string, FSWatcher>();
  readonly #poll: NodeJS.Timeout;
  #files = new Map<string, string | undefined>();
  #stamps = new Map<string, string>();
  #reportsSaves = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param onChange gets the paths of files whose contents differ from what was loaded */
  constructor(onChange: (files: readonly string[]) => void) {
    this.#onChange = onChange;
    this.#poll = setInterval(() => this.#checkStamps(), pollMs);
  }

  get count(): number {
    return this.#files.size;
  }

  /** Reports changes of the present contents from now on, also changes back to the contents that were loaded. */
  watchFromNow(): void {
    this.watch(Object.fromEntries([...this.#files.keys()].map((path) => [path, hashOfFile(path)])));
  }

  /**
   * Watches these files instead. Changes since they were loaded are reported at once.
   * @param options `reportsSaves`: whether files that are saved unchanged are reported too
   */
  watch(files: FileHashes, { reportsSaves = false }: { readonly reportsSaves?: boolean } = {}): void {
    this.#files = new Map(Object.entries(files));
    this.#reportsSaves = reportsSaves;
    this.#stamps = this.#readStamps();
    const folders = new Set([...this.#files.keys()].map(existingFolder));
    for (const [folder, watcher] of this.#folders)
      if (!folders.has(folder)) {
        watcher.close();
        this.#folders.delete(folder);
      }
    for (const folder of folders) this.#watchFolder(folder);
    this.check();
  }

  /** Watches another file. @param hash of what was loaded */
  add(path: string, hash: string | undefined): void {
    this.#files.set(path, hash);
    this.#stamps.set(path, stampOf(path));
    this.#watchFolder(existingFolder(path));
    this.check();
  }

  /** Looks for changes now, and reports those that were reported before as well. */
  check(): void {
    this.#settle(settleMs);
  }

  close(): void {
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
  }

  #watchFolder(folder: string): void {
    if (this.#folders.has(folder)) return;
    try {
      // Other files of the folder change often, such as the database.
      const watcher = watch(folder, (_, name) => {
        if (name === null || this.#isPathOf(join(folder, name))) this.#settle(settleMs);
      });
      watcher.on("error", () => this.#forget(folder, watcher));
      this.#folders.set(folder, watcher);
    } catch {
      // The number of watched folders is limited; the poll finds changes too.
    }
  }

  /** Whether it is a file that is watched, or a folder that has one. */
  #isPathOf(path: string): boolean {
    return this.#files.has(path) || this.#files.keys().some((file) => file.startsWith(path + sep));
  }

  #forget(folder: string, watcher: FSWatcher): void {
    watcher.close();
    this.#folders.delete(folder);
  }

  #checkStamps(): void {
    const stamps = this.#readStamps();
    if ([...stamps].some(([path, stamp]) => this.#stamps.get(path) !== stamp)) this.#settle(settleMs);
    // Where saves are reported, the stamps stay those of the beginning, with which they are compared.
    if (!this.#reportsSaves) this.#stamps = stamps;
  }

  #readStamps(): Map<string, string> {
    return new Map([...this.#files.keys()].map((path) => [path, stampOf(path)]));
  }

  #settle(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(ms >= replaceMs), ms);
  }

  #check(isFinal: boolean): void {
    const changed = [...this.#files].filter(
      ([path, loaded]) =>
        hashOfFile(path) !== loaded || (this.#reportsSaves && stampOf(path) !== this.#stamps.get(path)),
    );
    if (changed.length === 0) return;
    const paths = changed.map(([path]) => path);
    if (!isFinal && changed.some(([path, loaded]) => loaded !== undefined && isEmpty(path)))
      return void this.#settle(replaceMs);
    this.#onChange(paths);
  }
}

/** The folder of a file, or the closest one above that exists. */
function existingFolder(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) || folder === dirname(folder) ? folder : existingFolder(folder);
}

function isEmpty(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.mtimeMs} ${stats.size} ${stats.ino}` : "";
}
