// What each server does that the bench starts with startServer of child.ts: it tells the port it was given, and ends
// when the bench does.

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export const host = "127.0.0.1";

export function serve(server: Server): void {
  server.listen(0, host, () => tellPort(server));
}

/** @param server one that listens */
export function tellPort(server: Server): void {
  // The bench is gone, whichever way it went.
  process.once("disconnect", () => process.exit(0));
  process.send!((server.address() as AddressInfo).port);
}
