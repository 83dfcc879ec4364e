// Which files of a project its declarations were loaded from, and what they contained then.

import module from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashOf, hashOfFile } from "./file-hash.ts";
import type { FileHashes } from "./messages.ts";

const ownSource = new URL("../..", import.meta.url).href;

/** Records the modules that are loaded from now on, except those of packages and of Portico itself. */
export class LoadedFiles {
  readonly #hashes = new Map<string, string | undefined>();

  /**
   * @param read names of files of the folder that are read in another way, or may be missing
   * @param onLoad gets each module before its code runs, and the hash of its source
   */
  constructor(
    folder: string,
    read: readonly string[],
    onLoad: (path: string, hash: string | undefined) => void,
  ) {
    const record = (path: string, hash: string | undefined): void => {
      this.#hashes.set(path, hash);
      onLoad(path, hash);
    };
    for (const name of read) this.#hashes.set(join(folder, name), hashOfFile(join(folder, name)));
    module.registerHooks({
      resolve: (specifier, context, nextResolve) => {
        try {
          return nextResolve(specifier, context);
        } catch (error) {
          // Watched until it exists.
          const missing = missingFile(folder, specifier, context.parentURL);
          if (missing !== undefined) record(missing, undefined);
          throw error;
        }
      },
      load: (url, context, nextLoad) => {
        const path = ownFile(url);
        try {
          const loaded = nextLoad(url, context);
          if (path !== undefined) record(path, hashOfSource(loaded.source) ?? hashOfFile(path));
          return loaded;
        } catch (error) {
          if (path !== undefined) record(path, hashOfFile(path));
          throw error;
        }
      },
    });
  }

  get hashes(): FileHashes {
    return Object.fromEntries(this.#hashes);
  }
}

/** The path of a module of the project; undefined for others. */
function ownFile(url: string): string | undefined {
  if (!url.startsWith("file:") || url.startsWith(ownSource) || url.includes("/node_modules/"))
    return undefined;
  return fileURLToPath(url.replace(/[?#].*$/, ""));
}

function missingFile(folder: string, specifier: string, importer: string | undefined): string | undefined {
  if (specifier.startsWith(".")) return importer && ownFile(new URL(specifier, importer).href);
  const [, name] = /^((?:@[\w.-]+\/)?[\w.-]+)(?:\/|$)/.exec(specifier) ?? [];
  return name && join(folder, "node_modules", name);
}

function hashOfSource(source: module.ModuleSource | null | undefined): string | undefined {
  if (source === null || source === undefined) return undefined;
  return hashOf(source instanceof ArrayBuffer ? new Uint8Array(source) : source);
}
