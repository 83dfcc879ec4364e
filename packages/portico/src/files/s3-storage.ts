// Keeps files in a bucket of an S3-compatible storage. Contents pass through the server in both directions, so the bucket
// needs to be reachable by the server only.

import { lstatSync, openAsBlob } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { AwsClient } from "aws4fetch";
import { OperatorError } from "../errors.ts";
import { createFolder } from "../store/sqlite/folder.ts";
import type { ByteRange, FileStorage } from "./storage.ts";
import { storageUnavailable } from "./storage-failure.ts";

/** How long the storage may take to answer, and to take a content. */
const answerMs = 30_000;
const putMs = 5 * 60_000;
const retries = 2;

export class S3Storage implements FileStorage {
  readonly incoming = privateFolder();
  readonly #client: AwsClient;
  /** Of the bucket, with a slash at its end. */
  readonly #bucket: string;

  private constructor(client: AwsClient, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  /**
   * @throws OperatorError if the folder of uploads belongs to somebody else
   * @param url as `storageUrl` has checked it; `s3+http:` for a storage without TLS
   */
  static open(url: string): S3Storage {
    const { protocol, host, pathname, username, password, searchParams } = new URL(url);
    const client = new AwsClient({
      accessKeyId: decodeURIComponent(username),
      secretAccessKey: decodeURIComponent(password),
      service: "s3",
      region: searchParams.get("region") ?? "us-east-1",
      retries,
    });
    const scheme = protocol === "s3+http:" ? "http" : "https";
    return new S3Storage(client, `${scheme}://${host}${pathname.replace(/\/*$/, "/")}`);
  }

  async put(id: string, path: string, type: string): Promise<void> {
    // A Blob has a length, which S3 requires, and its content is not read into memory.
    const body = await openAsBlob(path);
    const headers = { "Content-Type": type, "x-amz-content-sha256": "UNSIGNED-PAYLOAD" };
    const response = await this.#request(id, { method: "PUT", body, headers }, putMs);
    await this.#finish(response, [200]);
    await rm(path, { force: true });
  }

  async get(id: string, range: ByteRange | undefined): Promise<Readable | undefined> {
    const headers = range && { Range: `bytes=${range.start}-${range.end}` };
    const response = await this.#request(id, { method: "GET", ...(headers && { headers }) }, answerMs);
    if (response.status === 404) return void (await response.body?.cancel());
    if (response.status !== (range ? 206 : 200)) await this.#finish(response, []);
    if (!response.body) return Readable.from([]);
    // The types of the two declarations of streams differ, the streams do not.
    return Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
  }

  async delete(id: string): Promise<void> {
    await this.#finish(await this.#request(id, { method: "DELETE" }, answerMs), [200, 204, 404]);
  }

  async #request(id: string, init: RequestInit, timeoutMs: number): Promise<Response> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    try {
      return await this.#client.fetch(this.#bucket + id, { ...init, signal: timeout.signal });
    } catch (error) {
      throw storageUnavailable(error);
    } finally {
      // A content may be read for longer.
      clearTimeout(timer);
    }
  }

  /** Reads the rest of a response. @throws Problem `unavailable` for another status than these */
  async #finish(response: Response, statuses: readonly number[]): Promise<void> {
    // The answer of an error may have any length.
    await response.body?.cancel();
    if (statuses.includes(response.status)) return;
    throw storageUnavailable(new Error(`the storage answered with ${response.status}`));
  }
}

/**
 * The folder of a user of the machine in the folder of temporary files, where anybody can create folders.
 *
 * @throws OperatorError if it belongs to somebody else, or others can write to it
 */
function privateFolder(): string {
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `portico-uploads-${uid}`);
  createFolder(folder, 0o700);
  const found = lstatSync(folder);
  const isPrivate =
    found.isDirectory() &&
    (process.getuid === undefined || (found.uid === uid && (found.mode & 0o022) === 0));
  if (isPrivate) return folder;
  throw new OperatorError(
    `${folder} belongs to somebody else, or others can write to it; remove it, or set TMPDIR to another folder`,
  );
}
