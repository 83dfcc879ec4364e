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
  /** Whether to print JSON objects, one per line, instead of text. */
  readonly isJson: boolean;
}

/** Listens until SIGINT or SIGTERM. @throws OperatorError for a URL or a type that is not valid */
export async function listen(
  { store, engine, caller }: TenantContext,
  { forward, eventTypes, isJson }: ListenOptions,
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
  const print = (object: object, text: string): void => {
    process.stdout.write(`${isJson ? JSON.stringify(object) : text}\n`);
  };
  const report = (message: string): void => void process.stderr.write(`warning: ${message}\n`);
  const feed = new EventFeed(store, report, new StoredNames(engine.model.resources));
  const visible = new VisibleEvents(engine, feed);
  const printEvent = async ({ id, type, createdAt, rowId }: RecordedEvent, row: string): Promise<void> => {
    const object = { id, type, createdAt, data: JSON.parse(row) as unknown };
    const text = `${createdAt}  ${type}  ${rowId}`;
    if (forward === undefined) return print(object, `${text}  ${row}`);
    const message = { id, type, timestamp: createdAt, data: row };
    const { status, durationMs, error } = await attemptDelivery(outbound, forward, [keyOf(secret)], message);
    print(
      { ...object, forwarded: { status, durationMs, error } },
      `${text}  ${error ?? `${status} in ${durationMs} ms`}`,
    );
  };
  const end = await feed.listen(async (events) => {
    const selected = events.filter(({ type }) => selectsType(eventTypes, type));
    for (const { event, row } of await visible.of(caller, selected)) await printEvent(event, row);
  });
  const signed = forward === undefined ? "" : `Requests are signed with the secret ${secret}\n`;
  print(
    { listening: true, ...(forward !== undefined && { secret }) },
    `${signed}Listening for events, as the system. Press Ctrl+C to stop.`,
  );
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  end();
  outbound.close();
}
