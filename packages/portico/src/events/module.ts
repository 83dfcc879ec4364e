import type { Module, ModuleOptions } from "../runtime/module.ts";
import { eventsTable } from "./event.ts";
import { forgetRestoredTransactions } from "./horizon.ts";
import { eventRetention, type NeededEvents, purgedEventsTable } from "./purged-events.ts";

/** Events, recorded with the writes that caused them. @param areNeeded of events that are old enough to be deleted */
export function eventsModule({ settings }: ModuleOptions, areNeeded: readonly NeededEvents[]): Module {
  return {
    tables: [eventsTable, purgedEventsTable],
    async start({ store }) {
      await forgetRestoredTransactions(store);
      return { retention: [eventRetention(store, settings.eventDays, areNeeded)] };
    },
  };
}
