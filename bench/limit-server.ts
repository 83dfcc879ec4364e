// The limit: a bare node:http server that answers every request with the bytes it was last told to, and does
// nothing else. A process of its own, started by limit.ts.

import { createServer, type ServerResponse } from "node:http";
import type { Answer } from "./limit.ts";
import { serve } from "./serve.ts";

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

serve(server);
