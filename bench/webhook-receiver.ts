// A receiver of webhooks, which accepts everything and counts it: `GET /` answers with the number. Runs in a process of its
// own, started by webhooks.ts.

import { createServer } from "node:http";
import { serve } from "./serve.ts";

let count = 0;

serve(
  createServer((request, response) => {
    if (request.method === "GET") return response.end(String(count));
    request.resume();
    request.once("end", () => {
      count += 1;
      response.writeHead(204).end();
    });
  }),
);
