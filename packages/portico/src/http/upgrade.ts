// Requests to speak WebSocket on their connection, or to open a tunnel. Any other protocol that a request would rather
// speak is passed over.

import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { Problem } from "../errors.ts";
import { refuseOnSocket } from "./answer-error.ts";
import { refuseCredentialInQuery } from "./hooks/credential-in-query.ts";
import { requireHostHeader } from "./hooks/host.ts";

/** Whether a request asks for WebSocket (RFC 6455, section 4.1). */
export function isWebSocketUpgrade({ headers: { upgrade } }: IncomingMessage): boolean {
  return upgrade?.toLowerCase() === "websocket";
}

type OpenSocket = (request: IncomingMessage, connection: Duplex, head: Buffer, requestId: string) => void;

/** Opens sockets at one path and refuses them everywhere else. */
export function handleUpgrades(server: Server, path: string, open: OpenSocket): void {
  server.on("upgrade", (request, connection, head) => {
    // Whoever hangs up now is of no interest any more.
    connection.on("error", () => {});
    const requestId = randomUUID();
    try {
      requireHostHeader(request);
      requireSocketPath(request, path);
      open(request, connection, head, requestId);
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem("internal_error");
      refuseOnSocket(connection, problem, requestId);
    }
  });
}

/** CONNECT asks for a tunnel, and there is none (RFC 9110, section 9.3.6). Node would hang up without a word. */
export function refuseConnect(server: Server): void {
  server.on("connect", (_request, connection) => {
    connection.on("error", () => {});
    const problem = new Problem("method_not_allowed", undefined, [], { Allow: "GET, HEAD, OPTIONS" });
    refuseOnSocket(connection, problem, randomUUID());
  });
}

/** @throws Problem */
function requireSocketPath({ method, url = "" }: IncomingMessage, path: string): void {
  refuseCredentialInQuery(url);
  if (url.split("?")[0] !== path) throw new Problem("not_found");
  // RFC 6455, section 4.1
  if (method !== "GET") throw new Problem("method_not_allowed", undefined, [], { Allow: "GET" });
}
