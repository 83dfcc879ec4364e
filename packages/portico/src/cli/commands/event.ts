// portico event list

import { eventText } from "../../event-log/logged-event.ts";
import { maxLimit } from "../../model/operation-parameters.ts";
import type { Command } from "../command.ts";
import { eventLogOf } from "../event-log.ts";
import { type TenantContext, tenantOption, withTenant } from "../tenant-work.ts";

const defaultLimit = 100;

/** An event as the API shows it. */
interface ListedEvent {
  readonly id: string;
  readonly type: string;
  readonly resourceId: string;
  readonly createdAt: string;
}

const eventList: Command = {
  name: "event list",
  summary: "List what happened to the rows of a tenant, newest first.",
  options: {
    tenant: tenantOption,
    type: { value: "TYPE", help: "only events of this type: post.created" },
    limit: { value: "N", help: `how many (default: ${defaultLimit})` },
  },
  async run(args) {
    const limit = args.number("limit") ?? defaultLimit;
    const type = args.text("type");
    const listed = await withTenant(args, (context) => newestEvents(context, type, limit));
    const lines = listed.map((each) => `${each.id}  ${each.createdAt}  ${each.type}  ${each.resourceId}`);
    return { json: { events: listed }, lines: lines.length > 0 ? lines : ["No events yet."] };
  },
};

async function newestEvents(
  context: TenantContext,
  type: string | undefined,
  limit: number,
): Promise<readonly ListedEvent[]> {
  const { log } = eventLogOf(context);
  const events: ListedEvent[] = [];
  let cursor: string | undefined;
  do {
    const page = await log.list(context.caller, {
      filter: { types: type === undefined ? undefined : [type] },
      ...{ isOldestFirst: false, isBackward: false, cursor },
      limit: Math.min(limit - events.length, maxLimit),
    });
    events.push(...page.events.map((event): ListedEvent => JSON.parse(eventText(event))));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && events.length < limit);
  return events;
}

export const commands: readonly Command[] = [eventList];
