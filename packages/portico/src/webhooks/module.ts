import { Principals } from "../auth/principal.ts";
import { Encryption } from "../lib/encryption.ts";
import { emailSettings } from "../runtime/email-settings.ts";
import type { Module, ModuleOptions, RunningModule, ServerContext } from "../runtime/module.ts";
import { secretsFor } from "../runtime/secrets.ts";
import { attemptsReader, attemptsReport } from "./attempts-report.ts";
import {
  attemptsTable,
  deliveryIndexes,
  deliveryRetention,
  maxResponseBytes,
  webhookDeliveries,
} from "./delivery.ts";
import { declareEndpoints, type WebhookEndpoints } from "./endpoint.ts";
import { endpointQueuesTable } from "./endpoint-queue.ts";
import { replayEvents, testEndpoint } from "./operations.ts";
import { readerTable } from "./reader-table.ts";

/** How long a receiver may take to answer. */
const requestTimeoutMs = 15_000;
/** How long requests in progress may take when the server is closed. */
const shutdownTimeoutMs = 8_000;
/**
 * A unit takes about 0.1 ms of the thread. A delivery that is added and sent takes two, so at least 300 are sent a second.
 */
const deliveryPace = { minRate: 600, maxRate: 20_000 };
const readIntervalMs = 50;
const sendIntervalMs = 250;

/** Webhooks: endpoints, and the delivery of events to them. */
export function webhooksModule({
  settings,
}: ModuleOptions): Module & { readonly endpoints: WebhookEndpoints } {
  let encryption: Encryption | undefined;
  const endpoints = declareEndpoints({
    isPrivateAllowed: settings.webhookPrivate,
    encryption: () => (encryption ??= new Encryption(secretsFor(settings))),
  });
  return {
    endpoints,
    tables: [attemptsTable, endpointQueuesTable, readerTable],
    indexes: deliveryIndexes,
    resources: [endpoints, webhookDeliveries],
    operations: [testEndpoint, replayEvents],
    reports: [{ ...attemptsReport, reader: ({ model, store }) => attemptsReader(model, store) }],
    start: (context) => startDelivering(endpoints, context),
  };
}

async function startDelivering(endpoints: WebhookEndpoints, context: ServerContext): Promise<RunningModule> {
  const [
    { EventReader },
    { DeliverySender },
    { OutboundFetch },
    { DeliverySchedule },
    { StoredNames },
    { endpointDisabler },
    { registerWebhookRoutes },
    { VisibleEvents },
    { Pace },
  ] = await Promise.all([
    import("./event-reader.ts"),
    import("./sender.ts"),
    import("../net/outbound-fetch.ts"),
    import("./schedule.ts"),
    import("../events/stored-names.ts"),
    import("./disable-endpoint.ts"),
    import("./routes.ts"),
    import("../subscriptions/visible-events.ts"),
    import("../jobs/pace.ts"),
  ]);
  const { app, settings, store, engine, model, events, report, secrets } = context;
  const shared = {
    ...{ store, engine, events, report },
    visible: new VisibleEvents(engine, events),
    principals: new Principals(store, model, settings.keyQuota),
    names: new StoredNames(model.resources),
    pace: new Pace(deliveryPace),
  };
  const schedule = new DeliverySchedule(settings.webhookSchedule);
  const sender = new DeliverySender({
    ...shared,
    schedule,
    encryption: new Encryption(secrets),
    outbound: new OutboundFetch({
      isPrivateAllowed: settings.webhookPrivate,
      timeoutMs: requestTimeoutMs,
      maxBytes: maxResponseBytes,
      isBodyOptional: true,
    }),
    disable: endpointDisabler({ store, engine, endpoints, emails: emailSettings(app, settings) }),
  });
  const reader = new EventReader({
    ...shared,
    firstDelayMs: schedule.firstDelayMs,
    onAdded: () => sender.wake(),
  });
  return {
    tasks: [
      {
        name: "queueing webhook deliveries",
        intervalMs: readIntervalMs,
        run: (signal) => reader.poll(signal),
      },
      { name: "sending webhook deliveries", intervalMs: sendIntervalMs, run: () => sender.poll() },
    ],
    register: (routes, { callerOf }) => registerWebhookRoutes(routes, callerOf, shared),
    retention: [deliveryRetention(store, settings.eventDays)],
    async stop() {
      shared.pace.end();
      await reader.stop();
      await sender.stop(shutdownTimeoutMs);
    },
  };
}
