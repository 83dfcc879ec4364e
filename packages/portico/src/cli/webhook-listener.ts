// Prints events as they happen, and forwards them as a webhook would. For development: events that happen while it does
// not run are not forwarded, and nothing is attempted again.

import { once } from "node:events";
import { OperatorError } from "../errors.ts";
import { selectsType, unknownPatterns } from "../events/event-patterns.ts";
import { EventFeed } from "../events/feed.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import { StoredNames } from "../events/stored-names.ts";
import { OutboundFetch } from "../net/outbound-fetch.ts";
import { VisibleEvents } from "../subscriptions/visible-events.ts";
import { attemptDelivery } from "../webhooks/attempt.ts";
import { maxResponseBytes } from "../webhooks/delivery.ts";
import { endpointUrlError } from "../webhooks/endpoint-url.ts";
import { generateSecret, keyOf } from "../webhooks/secret.ts";
import type { TenantContext } from "./tenant-work.ts";

const timeoutMs = 15_000;

export interface ListenOptions {
  readonly forward: string | undefined;
  readonly eventTypes: readonly string[];
}

/** Listens until SIGINT or SIGTERM. @throws OperatorError for a URL or a type that is not valid */
export async function listen(
  { store, engine, caller }: TenantContext,
  { forward, eventTypes }: ListenOptions,
): Promise<void> {
  const error = forward === undefined ? undefined : endpointUrlError(forward, true);
  if (error !== undefined) throw new OperatorError(`--forward ${error}`);
  const unknown = unknownPatterns(eventTypes, engine.model);
  if (unknown.length > 0)
    throw new OperatorError(
      `there are no events of these types: ${unknown.join(", ")}; write post.created, post.* or *, for example`,
    );
  const secret = generateSecret();
  const outbound = new OutboundFetch({
    ...{ isPrivateAllowed: true, timeoutMs, maxBytes: maxResponseBytes, isBodyOptional: true },
  });
  const report = (message: string): void => print(`warning: ${message}`);
  const feed = new EventFeed(store, report, new StoredNames(engine.model.resources));
  const visible = new VisibleEvents(engine, feed);
  const forwardEvent = async (event: RecordedEvent, row: string): Promise<string> => {
    if (forward === undefined) return row;
    const message = { id: event.id, type: event.type, timestamp: event.createdAt, data: row };
    const attempt = await attemptDelivery(outbound, forward, [keyOf(secret)], message);
    return attempt.error ?? `${attempt.status} in ${attempt.durationMs} ms`;
  };
  const end = await feed.listen(async (events) => {
    const selected = events.filter(({ type }) => selectsType(eventTypes, type));
    for (const { event, row } of await visible.of(caller, selected))
      print(`${event.createdAt}  ${event.type}  ${event.rowId}  ${await forwardEvent(event, row)}`);
  });
  if (forward !== undefined) print(`Requests are signed with the secret ${secret}`);
  print("Listening for events, as the system. Press Ctrl+C to stop.");
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  end();
  outbound.close();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
