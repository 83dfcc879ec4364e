// The event log in a command.

import { randomUUID } from "node:crypto";
import { EventLog } from "../event-log/event-log.ts";
import { EventReader } from "../events/event-reader.ts";
import { StoredNames } from "../events/stored-names.ts";
import type { ResourceModel } from "../model/model.ts";
import { PositionCursors } from "../query/position-cursors.ts";
import { VisibleEvents } from "../subscriptions/visible-events.ts";
import type { TenantContext } from "./tenant-work.ts";

export interface CommandEventLog {
  /** Its cursors are valid for this command only. */
  readonly log: EventLog;
  /** The resources whose events there are. */
  readonly resources: readonly ResourceModel[];
}

export function eventLogOf({ store, engine }: TenantContext): CommandEventLog {
  const visible = new VisibleEvents(engine, { skip: () => {} });
  const reader = new EventReader(store, new StoredNames(engine.model.resources));
  const log = new EventLog(reader, visible, new PositionCursors([randomUUID()], "events"));
  return { log, resources: visible.resources };
}
