// `GET /v1/files/{id}`: the content of a file, for anyone who has its signed URL.

import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../errors.ts";
import { contentDisposition } from "../files/file-name.ts";
import { isShown } from "../files/file-type.ts";
import type { FileUrls } from "../files/file-urls.ts";
import type { ByteRange, FileStorage } from "../files/storage.ts";
import { selectFile } from "../files/table.ts";
import { isId } from "../lib/id.ts";
import { matchesTag } from "../query/entity-tag.ts";
import type { Store } from "../store/store.ts";
import { requestedRange } from "./byte-range.ts";

export interface DownloadOptions {
  readonly store: Store;
  readonly storage: FileStorage;
  readonly urls: FileUrls;
}

export type FileRequest = FastifyRequest<{ Params: { readonly id: string } }>;

/** Nothing that a file contains may run in a page of this origin, whatever a browser takes it for. */
const isolation = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Referrer-Policy": "no-referrer",
};

/** The signed parts of an address. */
export function addressOf({ url, params }: FileRequest): Parameters<FileUrls["secondsLeft"]>[1] {
  const query = new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?") + 1) : "");
  return { id: params.id, expires: query.get("expires"), signature: query.get("signature") };
}

export function downloadHandler({ store, storage, urls }: DownloadOptions) {
  return async (request: FileRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { id } = request.params;
    const seconds = urls.secondsLeft("files", addressOf(request));
    if (seconds === 0)
      throw new Problem(
        "forbidden",
        "The address of the file has expired or is not valid. Read the row again for a new one.",
      );
    const file = isId(id) ? await selectFile(store).first(store.database, { id }) : undefined;
    if (file?.status !== "attached") throw missing();
    const tag = `"${id}"`;
    const { headers, method } = request;
    const cached = {
      ...isolation,
      ETag: tag,
      "Accept-Ranges": "bytes",
      "Cache-Control": `private, max-age=${seconds}, immutable`,
    };
    const ifNoneMatch = headers["if-none-match"];
    if (ifNoneMatch !== undefined && matchesTag(ifNoneMatch, tag, true))
      return reply.code(304).headers(cached).send();
    const range = rangeOf(request, tag, file.size);
    // Before any header is set, which an error would send too.
    const content = method === "HEAD" ? Readable.from([]) : await storage.get(id, range);
    if (!content) throw missing();
    return reply
      .code(range ? 206 : 200)
      .headers({
        ...cached,
        "Content-Type": file.type,
        "Content-Disposition": contentDisposition(isShown(file.type) ? "inline" : "attachment", file.name),
        "Content-Length": range ? range.end - range.start + 1 : file.size,
        ...(range && { "Content-Range": `bytes ${range.start}-${range.end}/${file.size}` }),
      })
      .send(content);
  };
}

/** The part that a request asks for. @throws Problem `range_not_satisfiable` */
function rangeOf({ headers, method }: FileRequest, tag: string, size: number): ByteRange | undefined {
  const ifRange = headers["if-range"];
  // RFC 9110, section 14.2: only GET has ranges.
  if (method !== "GET" || (ifRange !== undefined && ifRange !== tag)) return undefined;
  const range = requestedRange(headers.range, size);
  if (range !== "unsatisfiable") return range;
  throw new Problem("range_not_satisfiable", undefined, [], { "Content-Range": `bytes */${size}` });
}

function missing(): Problem {
  return new Problem("not_found", "There is no such file.");
}
