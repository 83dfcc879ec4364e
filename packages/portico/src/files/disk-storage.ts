// Keeps files in a folder of the machine.

import { type FileHandle, open, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { createFolder } from "../store/sqlite/folder.ts";
import type { ByteRange, FileStorage } from "./storage.ts";
import { codeOf, storageUnavailable } from "./storage-failure.ts";

export class DiskStorage implements FileStorage {
  readonly incoming: string;
  readonly #folder: string;

  /** @param folder created when it is needed */
  constructor(folder: string) {
    this.#folder = folder;
    this.incoming = join(folder, "incoming");
  }

  async put(id: string, path: string): Promise<void> {
    const target = this.#pathOf(id);
    try {
      createFolder(dirname(target));
      await rename(path, target);
      await sync(dirname(target));
    } catch (error) {
      throw storageUnavailable(error);
    }
  }

  async get(id: string, range: ByteRange | undefined): Promise<Readable | undefined> {
    let file: FileHandle;
    try {
      file = await open(this.#pathOf(id));
    } catch (error) {
      // A folder that is not mounted must not look like one without files.
      if (codeOf(error) === "ENOENT" && (await this.#exists())) return undefined;
      throw storageUnavailable(error);
    }
    return file.createReadStream({ ...range });
  }

  async delete(id: string): Promise<void> {
    try {
      await unlink(this.#pathOf(id));
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || !(await this.#exists())) throw storageUnavailable(error);
    }
  }

  #exists(): Promise<boolean> {
    return stat(this.#folder).then(
      () => true,
      () => false,
    );
  }

  /** The last digits of an id are random, so files are spread over 1,024 folders. */
  #pathOf(id: string): string {
    return join(this.#folder, id.slice(-2), id);
  }
}

/** Writes the entries of a folder to the disk. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
