// Which recorded events a caller sees, and their rows as the API shows them: one answer for the event log, webhooks and
// whatever else passes on events outside a subscription.

import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import type { RecordedEvent } from "../events/recorded-event.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { ResourceModel } from "../model/model.ts";
import { ownText } from "../query/own-text.ts";
import { wholeRow } from "../query/selection.ts";
import type { EventSource } from "./event-source.ts";
import { type ParsedEvent, parseEvents } from "./parsed-event.ts";

/** An event as a caller sees it. */
export interface VisibleEvent {
  readonly event: RecordedEvent;
  readonly resource: ResourceModel;
  /** The row as the API shows it, as JSON text: without fields that are internal or no longer declared. */
  readonly row: string;
}

export class VisibleEvents {
  readonly #engine: Engine;
  readonly #source: Pick<EventSource, "skip">;
  /** The resources whose events there are: those that the API serves, and that record events. */
  readonly resources: readonly ResourceModel[];

  /** @param source to which events that cannot be parsed are reported; they are left out */
  constructor(engine: Engine, source: Pick<EventSource, "skip">) {
    this.#engine = engine;
    this.#source = source;
    this.resources = engine.model.resources.filter(
      ({ isExposed, recordsEvents }) => isExposed && recordsEvents,
    );
  }

  /** The resources whose scope a caller has: it sees events of no others. */
  resourcesOf({ scopes: own }: Caller): readonly ResourceModel[] {
    return this.resources.filter(({ scopes }) => own.has(scopes.read));
  }

  /**
   * The events that a caller sees now, in their order: those of its tenant, of resources whose scope it has, and whose rows
   * its policies show. The recorded row decides about its own fields, the present rows about related ones.
   *
   * @throws Error if a policy throws
   */
  async of(caller: Caller, events: readonly RecordedEvent[]): Promise<readonly VisibleEvent[]> {
    const resources = new Map(this.resourcesOf(caller).map((resource) => [resource.name, resource]));
    const own = events.filter(
      ({ tenantId, resource }) => tenantId === caller.tenantId && resources.has(resource),
    );
    const visible = new Map<RecordedEvent, VisibleEvent>();
    for (const [name, ofResource] of Map.groupBy(own, ({ resource }) => resource)) {
      const resource = resources.get(name)!;
      const parsed = await parseEvents(ofResource, this.#source, new TimeSlice());
      const areVisible = await this.#engine.areVisible(caller, resource, parsed);
      for (const each of parsed.filter((_, index) => areVisible[index]))
        visible.set(each.event, visibleEvent(resource, each));
    }
    return own.flatMap((event) => visible.get(event) ?? []);
  }
}

function visibleEvent(resource: ResourceModel, { event, row }: ParsedEvent): VisibleEvent {
  // The selection of a whole row has fields of the row only.
  return { event, resource, row: ownText(row, wholeRow(resource))! };
}
