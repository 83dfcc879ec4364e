// Writes a content to a file as it arrives, with a bound, and nothing of it remains if that fails.

import { createHash, randomUUID } from "node:crypto";
import { open, readdir, rm, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../errors.ts";
import { createFolder } from "../store/sqlite/folder.ts";
import { signatureBytes } from "./file-type.ts";
import { storageUnavailable } from "./storage-failure.ts";

export interface ReceivedContent {
  readonly path: string;
  readonly size: number;
  /** Its first bytes. */
  readonly start: Buffer;
  readonly sha256: string;
}

/** What is left of uploads that were cut off by a crash is deleted after this time. Those that arrive write more often. */
const leftoverMs = 60 * 60 * 1000;

/**
 * @param folder where the file is written
 * @param onTooLarge throws for more than `max` bytes
 * @throws Problem `unavailable` if it cannot be written
 */
export async function receiveContent(
  chunks: AsyncIterable<Buffer>,
  folder: string,
  max: number,
  onTooLarge: () => never,
): Promise<ReceivedContent> {
  const path = join(folder, randomUUID());
  try {
    return await write(chunks, path, folder, max, onTooLarge);
  } catch (error) {
    // A folder that is gone or read-only must not hide the error; `deleteLeftovers` deletes what remains.
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}

async function write(
  chunks: AsyncIterable<Buffer>,
  path: string,
  folder: string,
  max: number,
  onTooLarge: () => never,
): Promise<ReceivedContent> {
  const file = await onDisk(() => {
    createFolder(folder);
    return open(path, "wx", 0o600);
  });
  try {
    const hash = createHash("sha256");
    const start: Buffer[] = [];
    let size = 0;
    for await (const chunk of chunks) {
      if (size < signatureBytes) start.push(chunk.subarray(0, signatureBytes - size));
      size += chunk.length;
      if (size > max) onTooLarge();
      hash.update(chunk);
      await onDisk(() => file.appendFile(chunk));
    }
    await onDisk(() => file.sync());
    return { path, size, start: Buffer.concat(start), sha256: hash.digest("base64url") };
  } finally {
    await file.close();
  }
}

async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Problem ? error : storageUnavailable(error);
  }
}

/** Deletes what uploads have left behind that ended without the process noticing. */
export async function deleteLeftovers(folder: string, now: number = Date.now()): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    // Another process may delete it first.
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now }));
    if (now - mtimeMs > leftoverMs) await unlink(path).catch(() => {});
  }
}
