import type { Module, ModuleOptions } from "../runtime/module.ts";
import { eventsTable } from "./event.ts";
import { forgetRestoredTransactions } from "./horizon.ts";
import { eventRetention, purgedEventsTable } from "./purged-events.ts";

/** Events, recorded with the writes that caused them. */
export function eventsModule({ settings }: ModuleOptions): Module {
  return {
    tables: [eventsTable, purgedEventsTable],
    async start({ store }) {
      await forgetRestoredTransactions(store);
      return { retention: [eventRetention(store, settings.eventDays)] };
    },
  };
}
