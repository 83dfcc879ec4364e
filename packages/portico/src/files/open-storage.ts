// Opens the storage that STORAGE_URL names.

import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { databaseFile } from "../store/open.ts";
import { DiskStorage } from "./disk-storage.ts";
import type { FileStorage } from "./storage.ts";

/**
 * @param url as the setting was parsed: `file:./data/files` or `s3://KEY:SECRET@host/bucket?region=eu-central-1`; undefined
 *   for a folder beside the database
 */
export async function openStorage(url: string | undefined, databaseUrl: string): Promise<FileStorage> {
  if (url?.startsWith("s3")) {
    // Loaded only when needed.
    const { S3Storage } = await import("./s3-storage.ts");
    return S3Storage.open(url);
  }
  return new DiskStorage(url === undefined ? standardFolder(databaseUrl) : folderOf(url));
}

function folderOf(url: string): string {
  return url.startsWith("file:///") ? fileURLToPath(url) : resolve(url.slice("file:".length));
}

/** Beside a SQLite database; in `./data` for others. */
function standardFolder(databaseUrl: string): string {
  const file = databaseFile(databaseUrl);
  return file === undefined ? resolve("data/files") : join(dirname(file), "files");
}
