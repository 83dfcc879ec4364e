// Callers who close their side of a connection once they have sent a request, and still listen for the answer.

import type { Server } from "node:http";
import type { Connections } from "../connections.ts";

/**
 * Answers them: Node would hang up before an answer that takes a moment. A request that they left unfinished gets
 * none, and its connection is closed.
 */
export function handleHalfClosed(server: Server, connections: Connections): void {
  // A property of Node's own, which its types leave out.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket) =>
    socket.once("end", () => {
      if (connections.of(socket)?.latestRequest?.complete === false) socket.destroy();
    }),
  );
}
