// Callers who close their side of a connection once they have sent a request, and still listen for the answer.

import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Answers them: Node would hang up before an answer that takes a moment. A request that they left unfinished gets
 * none, and its connection is closed.
 */
export function answerHalfClosed(server: Server): void {
  // A property of Node's own, which its types leave out.
  Object.assign(server, { httpAllowHalfOpen: true });
  const latest = new WeakMap<Socket, IncomingMessage>();
  server.on("request", (request) => latest.set(request.socket, request));
  server.on("connection", (socket) =>
    socket.once("end", () => {
      if (latest.get(socket)?.complete === false) socket.destroy();
    }),
  );
}
