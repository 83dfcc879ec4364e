// The limit: a bare node:http server that answers every request with the bytes it was last told to, and does
// nothing else. A process of its own, started by limit.ts.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Answer } from "./limit.ts";

let answer: Answer = { status: 200, contentType: "text/plain", body: "" };
let length = 0;

const server = createServer((request, response) => {
  if (request.method === "GET") return send(response);
  request.resume();
  request.once("end", () => send(response));
});

function send(response: ServerResponse): void {
  response.writeHead(answer.status, { "Content-Type": answer.contentType, "Content-Length": length });
  response.end(answer.body);
}

process.on("message", (next: Answer) => {
  answer = next;
  length = Buffer.byteLength(next.body);
  process.send!("ready");
});
// The bench is gone, whichever way it went.
process.once("disconnect", () => process.exit(0));

server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
