// Requests that switch their connection to WebSocket or open a tunnel. Other values of `Upgrade` are ignored.

import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { Problem } from "../errors.ts";
import { refuseOnSocket } from "./error-response.ts";
import { refuseCredentialInQuery } from "./hooks/credential-in-query.ts";
import { requireHostHeader } from "./hooks/host-header.ts";

/** Whether a request switches to WebSocket (RFC 6455, section 4.1). */
export function isWebSocketUpgrade({ headers: { upgrade } }: IncomingMessage): boolean {
  return upgrade?.toLowerCase() === "websocket";
}

type OpenSocket = (request: IncomingMessage, connection: Duplex, head: Buffer, requestId: string) => void;

/** Opens WebSockets at one path and refuses them at all others. */
export function handleUpgrades(server: Server, path: string, open: OpenSocket): void {
  server.on("upgrade", (request, connection, head) => {
    // It is not an error if the caller closes the connection now.
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

/** Refuses CONNECT (RFC 9110, section 9.3.6) with a response; Node would close the connection without one. */
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
