// A small S3-compatible storage: objects in memory, and the signature of each request checked (Signature Version 4).

import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export class S3Server {
  readonly objects = new Map<string, { readonly type: string; readonly content: Buffer }>();
  /** The methods of the requests that were refused. */
  readonly refused: string[] = [];
  /** If set, the status of every answer. */
  failure: number | undefined;
  /** If set, a PUT stores nothing before it is resolved. */
  gate: Promise<void> | undefined;
  /** How many PUT requests have arrived. */
  puts = 0;
  readonly #server: Server;
  readonly #secret: string;

  private constructor(secret: string) {
    this.#secret = secret;
    // handled: a test that needs the answer fails.
    this.#server = createServer((request, response) => void this.#answer(request, response).catch(() => {}));
  }

  static async start(secret: string): Promise<S3Server> {
    const s3 = new S3Server(secret);
    s3.#server.listen(0, "127.0.0.1");
    await once(s3.#server, "listening");
    return s3;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const content = await buffer(request);
    const key = request.url!;
    const end = (status: number, headers: Record<string, string> = {}, body?: Buffer): void => {
      response.writeHead(status, headers).end(body);
    };
    if (this.failure !== undefined) return end(this.failure);
    if (!isSigned(request, this.#secret)) {
      this.refused.push(request.method!);
      return end(403);
    }
    if (request.method === "PUT") {
      this.puts++;
      await this.gate;
      // S3 refuses a content without a length.
      if (request.headers["content-length"] === undefined) return end(411);
      this.objects.set(key, { type: request.headers["content-type"] ?? "", content });
      return end(200);
    }
    if (request.method === "DELETE") {
      this.objects.delete(key);
      return end(204);
    }
    const found = this.objects.get(key);
    if (!found) return end(404);
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    if (first === undefined) return end(200, { "content-type": found.type }, found.content);
    end(206, { "content-type": found.type }, found.content.subarray(Number(first), Number(last) + 1));
  }
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** Computes the signature as the storage does, from what has arrived. */
function isSigned({ method, url, headers }: IncomingMessage, secret: string): boolean {
  const form =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d+)\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)$/;
  const [, day, region, signed, signature] = form.exec(headers.authorization ?? "") ?? [];
  if (day === undefined) return false;
  const names = signed!.split(";");
  if (!names.includes("host") || !names.includes("x-amz-date")) return false;
  const lines = names.map((name) => `${name}:${String(headers[name]).trim()}\n`).join("");
  const canonical = [method, url, "", lines, signed, headers["x-amz-content-sha256"]].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const digest = createHash("sha256").update(canonical).digest("hex");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest].join("\n");
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region!), "s3"), "aws4_request");
  return hmac(key, text).toString("hex") === signature;
}
