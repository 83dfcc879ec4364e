// Half-closed connections: the caller has closed its side after sending a request, and still reads the response.

import type { Server } from "node:http";
import type { Connections } from "../connections.ts";

/**
 * Responds on half-closed connections, which Node would close before a response that is not ready at once. A connection
 * with an incomplete request is closed.
 */
export function handleHalfClosed(server: Server, connections: Connections): void {
  // Missing in the types of Node.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket) =>
    socket.once("end", () => {
      if (connections.of(socket)?.latestRequest?.complete === false) socket.destroy();
    }),
  );
}
