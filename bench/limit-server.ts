// The limit: a bare node:http server that sends the same response to every request: the one it has last received from the
// bench. Runs in a process of its own, started by limit.ts.

import { createServer, type ServerResponse } from "node:http";
import type { RecordedResponse } from "./limit.ts";
import { serve } from "./serve.ts";

let recorded: RecordedResponse = { status: 200, contentType: "text/plain", body: "" };
let length = 0;

const server = createServer((request, response) => {
  if (request.method === "GET") return send(response);
  request.resume();
  request.once("end", () => send(response));
});

function send(response: ServerResponse): void {
  response.writeHead(recorded.status, { "Content-Type": recorded.contentType, "Content-Length": length });
  response.end(recorded.body);
}

process.on("message", (next: RecordedResponse) => {
  recorded = next;
  length = Buffer.byteLength(next.body);
  process.send!("ready");
});

serve(server);
