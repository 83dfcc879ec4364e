// Receives webhooks: verifies each, answers at once, and handles an event once however often it is delivered.

import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const { WEBHOOK_SECRET: secret = "", PORT: port = "8082" } = process.env;
const webhook = new Webhook(secret);
/** A real application keeps these in its database, in the transaction that handles the event. */
const handled = new Set<string>();

interface Event {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  let event: Event;
  try {
    // Also refuses messages that are older than five minutes.
    event = webhook.verify(body, request.headers as Record<string, string>) as Event;
  } catch {
    response.writeHead(401).end();
    return;
  }
  if (!handled.has(event.id)) {
    handled.add(event.id);
    console.log(`${event.type} ${event.data["id"]}`);
  }
  response.writeHead(204).end();
});

server.listen(Number(port), "127.0.0.1", () => console.log(`receiving at http://127.0.0.1:${port}/`));
