// Used by every server that `startServer` of child.ts starts: reports the port to the bench, and ends with the bench.

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export const host = "127.0.0.1";

export function serve(server: Server): void {
  server.listen(0, host, () => reportPort(server));
}

/** @param server is listening */
export function reportPort(server: Server): void {
  // The bench has ended, normally or not.
  process.once("disconnect", () => process.exit(0));
  process.send!((server.address() as AddressInfo).port);
}
