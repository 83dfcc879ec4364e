// Suites with a server and a receiver of its webhooks.

import { after, before } from "node:test";
import { type ServeOptions, serve, type TestServer } from "./scenario.ts";
import type { Answer, DatabaseName, RequestOptions } from "./server.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";

export interface WebhookSuite {
  readonly server: TestServer;
  readonly receiver: WebhookReceiver;
  /** Creates an endpoint at a path of the receiver, for all events of posts by default. @returns its row, with the secret */
  readonly endpointAt: (
    path: string,
    eventTypes?: readonly string[],
    options?: RequestOptions,
  ) => Promise<Answer["body"]>;
  readonly endpoint: (id: string) => Promise<Answer["body"]>;
  /** The newest deliveries of an endpoint. */
  readonly deliveriesOf: (endpointId: string) => Promise<Answer["body"]>;
}

/** Starts both before the first test of the enclosing suite, and stops them after its last. */
export function serveWebhooks(database: DatabaseName, options?: ServeOptions): WebhookSuite {
  const receiver = new WebhookReceiver();
  before(() => receiver.start());
  // Before the server, which would wait for its answers.
  after(() => receiver.stop());
  const server = serve(database, options);
  return {
    server,
    receiver,
    endpointAt: (path, eventTypes = ["post.*"], request) =>
      server.create("/v1/webhook-endpoints", { url: receiver.url + path, eventTypes }, request),
    endpoint: async (id) => (await server.request(`/v1/webhook-endpoints/${id}`)).body,
    deliveriesOf: async (endpointId) =>
      (await server.request(`/v1/webhook-deliveries?endpointId=${endpointId}&limit=100`)).body.data,
  };
}
