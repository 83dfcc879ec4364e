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
import { webhookReaderTable } from "./reader-table.ts";

/** How long requests in progress may take when the server is closed. */
const shutdownTimeoutMs = 8_000;
/**
 * A unit takes about 0.1 ms of the thread. A delivery that is added and sent takes two, so at least 300 are sent a second.
 */
const deliveryPace = { minRate: 600, maxRate: 20_000 };
const readIntervalMs = 50;
const sendIntervalMs = 250;
/** Rows of processes that still have an earlier PORTICO_SECRET can be added for a while. */
const renewalIntervalMs = 10 * 60 * 1_000;

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
    tables: [attemptsTable, endpointQueuesTable, webhookReaderTable],
    indexes: deliveryIndexes,
    resources: [endpoints, webhookDeliveries],
    operations: [testEndpoint, replayEvents],
    reports: [{ ...attemptsReport, reader: ({ model, store }) => attemptsReader(model, store) }],
    start: (context) => startDelivering(endpoints, context),
  };
}

async function startDelivering(endpoints: WebhookEndpoints, context: ServerContext): Promise<RunningModule> {
  const [
    { DeliveryQueuer },
    { DeliverySender },
    { OutboundFetch },
    { DeliverySchedule },
    { StoredNames },
    { endpointDisabler },
    { registerWebhookRoutes },
    { VisibleEvents },
    { Pace },
    { renewSecrets },
  ] = await Promise.all([
    import("./delivery-queuer.ts"),
    import("./sender.ts"),
    import("../net/outbound-fetch.ts"),
    import("./schedule.ts"),
    import("../events/stored-names.ts"),
    import("./disable-endpoint.ts"),
    import("./routes.ts"),
    import("../subscriptions/visible-events.ts"),
    import("../jobs/pace.ts"),
    import("./secret-renewal.ts"),
  ]);
  const { app, settings, store, engine, model, events, report, secrets, idempotentRequests } = context;
  const shared = {
    ...{ store, engine, events, report },
    visible: new VisibleEvents(engine, events),
    principals: new Principals(store, model, settings.keyQuota),
    names: new StoredNames(model.resources),
    pace: new Pace(deliveryPace),
  };
  const schedule = new DeliverySchedule(settings.webhookSchedule);
  const encryption = new Encryption(secrets);
  const attemptTimeoutMs = settings.webhookTimeout * 1_000;
  const sender = new DeliverySender({
    ...{ ...shared, schedule, encryption },
    outbound: new OutboundFetch({
      isPrivateAllowed: settings.webhookPrivate,
      timeoutMs: attemptTimeoutMs,
      maxBytes: maxResponseBytes,
      isBodyOptional: true,
    }),
    disable: endpointDisabler({ store, engine, endpoints, emails: emailSettings(app, settings) }),
  });
  const queuer = new DeliveryQueuer({
    ...shared,
    firstDelayMs: schedule.firstDelayMs,
    onAdded: () => sender.wake(),
  });
  return {
    tasks: [
      {
        name: "queueing webhook deliveries",
        intervalMs: readIntervalMs,
        run: (signal) => queuer.poll(signal),
      },
      { name: "sending webhook deliveries", intervalMs: sendIntervalMs, run: () => sender.poll() },
      ...(secrets.length > 1
        ? [
            {
              name: "encrypting the secrets of webhook endpoints again",
              intervalMs: renewalIntervalMs,
              run: () => renewSecrets(store, encryption),
            },
          ]
        : []),
    ],
    register: (routes, { callerOf }) =>
      registerWebhookRoutes(routes, { ...shared, attemptTimeoutMs, callerOf, idempotentRequests }),
    retention: [deliveryRetention(store, settings.eventDays)],
    async stop() {
      shared.pace.end();
      await queuer.stop();
      await sender.stop(shutdownTimeoutMs);
    },
  };
}
