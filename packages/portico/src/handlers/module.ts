import type { Module, ModuleOptions, RunningModule, ServerContext } from "../runtime/module.ts";
import { type DeclaredHandler, declaredHandlers } from "./declared-handlers.ts";
import { failedJobRetention } from "./retention.ts";
import { handlerJobsTable, handlerQueuesTable, handlerReaderTable, handlersTable } from "./tables.ts";

/** How long calls in progress may take when the server is closed. */
const shutdownTimeoutMs = 8_000;
/** As of webhooks: a unit takes about 0.1 ms of the thread, besides what handlers do. */
const pace = { minRate: 600, maxRate: 20_000 };
const readIntervalMs = 50;
const callIntervalMs = 100;
const registerIntervalMs = 60 * 1_000;

/** Handlers of events: calls after the commit, at least once. */
export function handlersModule({
  app,
}: ModuleOptions): Module & { readonly handlers: readonly DeclaredHandler[] } {
  const handlers = declaredHandlers(app.on);
  return {
    handlers,
    tables: [handlersTable, handlerReaderTable, handlerQueuesTable, handlerJobsTable],
    start: (context) => startHandlers(handlers, context),
  };
}

async function startHandlers(
  handlers: readonly DeclaredHandler[],
  context: ServerContext,
): Promise<RunningModule> {
  const { store, engine, model, settings, report } = context;
  const [
    { JobQueuer },
    { JobRunner },
    { forgetAfterMs, forgetUnseen, registerHandlers },
    { completePosition },
    { StoredNames },
    { Pace },
    { RetrySchedule },
  ] = await Promise.all([
    import("./job-queuer.ts"),
    import("./job-runner.ts"),
    import("./registration.ts"),
    import("../events/horizon.ts"),
    import("../events/stored-names.ts"),
    import("../jobs/pace.ts"),
    import("../jobs/retry-schedule.ts"),
  ]);
  const retention = [failedJobRetention(settings.eventDays)];
  const startedAt = Date.now();
  const forget = async (): Promise<void> => {
    // After an outage, processes that declare a handler may start later than this one.
    if (Date.now() - startedAt < forgetAfterMs) return;
    for (const handler of await forgetUnseen(store))
      report("a handler is no longer declared; its pending calls are set aside", { handler });
  };
  if (handlers.length === 0) {
    const task = { name: "forgetting handlers", intervalMs: registerIntervalMs, run: forget };
    return { tasks: [task], retention };
  }
  const names = handlers.map(({ name }) => name);
  // Before requests are accepted, so that the handlers get the events of all of them.
  await registerHandlers(store, names, await completePosition(store));
  const [firstDelay = 0, ...delays] = settings.jobSchedule.map((seconds) => seconds * 1_000);
  const shared = { store, names: new StoredNames(model.resources), report, pace: new Pace(pace) };
  const runner = new JobRunner({
    ...{ ...shared, engine, handlers },
    schedule: new RetrySchedule({ delaysMs: delays, afterLast: "giveUp", jitter: 0.1 }),
    timeoutMs: settings.jobTimeout * 1_000,
  });
  const queuer = new JobQueuer({ ...shared, firstDelayMs: firstDelay, onAdded: () => runner.wake() });
  return {
    tasks: [
      {
        name: "queueing calls of handlers",
        intervalMs: readIntervalMs,
        run: (signal) => queuer.poll(signal),
      },
      { name: "calling handlers", intervalMs: callIntervalMs, run: () => runner.poll() },
      {
        name: "registering handlers",
        intervalMs: registerIntervalMs,
        delayMs: registerIntervalMs,
        async run() {
          await registerHandlers(store, names, await completePosition(store));
          await forget();
        },
      },
    ],
    retention,
    async stop() {
      shared.pace.end();
      await queuer.stop();
      await runner.stop(shutdownTimeoutMs);
    },
  };
}
