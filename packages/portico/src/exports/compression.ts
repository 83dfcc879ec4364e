// Compresses an export as the header Accept-Encoding asks for it (RFC 9110, section 12.5.3). zlib has threads of its own.

import type { IncomingHttpHeaders } from "node:http";
import type { Readable, Transform } from "node:stream";
import { constants, createGzip, createZstdCompress } from "node:zlib";
import Negotiator from "negotiator";

const codings = ["zstd", "gzip", "identity"] as const;
export type Coding = (typeof codings)[number];

/** More than what most chunks take. */
const bufferBytes = 128 * 1024;

/** The coding that a client prefers. Without the header the response is not compressed. */
export function preferredCoding({ "accept-encoding": accepted }: IncomingHttpHeaders): Coding {
  if (accepted === undefined) return "identity";
  const [preferred] = new Negotiator({ headers: { "accept-encoding": accepted } }).encodings([...codings]);
  return codings.find((coding) => coding === preferred) ?? "identity";
}

/** The compressed bytes of texts. An error of either destroys both. */
export function compressed(texts: AsyncIterable<string>, coding: Exclude<Coding, "identity">): Readable {
  const transform = compressor(coding);
  writeTo(transform, texts).catch((error) => transform.destroy(error));
  return transform;
}

/** At their quickest levels: a higher one would take most of the time of an export. */
function compressor(coding: Exclude<Coding, "identity">): Transform {
  if (coding === "gzip") return createGzip({ level: constants.Z_BEST_SPEED });
  return createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/** All texts are encoded in one buffer, which the transform has read when it asks for more. */
async function writeTo(transform: Transform, texts: AsyncIterable<string>): Promise<void> {
  let buffer = Buffer.allocUnsafeSlow(bufferBytes);
  for await (const text of texts) {
    const length = Buffer.byteLength(text);
    if (length > buffer.length) buffer = Buffer.allocUnsafeSlow(length);
    const bytes = buffer.subarray(0, buffer.write(text));
    await new Promise<void>((resolve, reject) => {
      transform.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }
  transform.end();
}
