// Exports of events: those of the event log that a caller sees, the oldest first.

import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorize.ts";
import type { EventFilter } from "../event-log/event-filter.ts";
import type { EventLog } from "../event-log/event-log.ts";
import { type EventVersion, eventText } from "../event-log/logged-event.ts";
import { eventsScope } from "../event-log/operations.ts";
import { parseEventList } from "../event-log/parse-request.ts";
import type { CsvFormat } from "../lib/csv.ts";
import type { ResourceModel } from "../model/model.ts";
import type { Query } from "../query/query-string.ts";
import { queryParametersOf } from "../rest/query/parameters.ts";
import { linesOf, type RowChunk, type RowStream, streamClosed } from "../store/row-stream.ts";
import { ExportQuery } from "./export-query.ts";
import type { ExportSource } from "./export-source.ts";
import { commonParameters, eventFilters, type FormatName } from "./operation.ts";

/** Events that are read at once. */
const pageSize = 250;
/** A page that is not full, although there are more events, has inspected thousands. */
const minChargeOfPartialPage = 1_000;

const own = queryParametersOf({ parameters: commonParameters });
const filters = queryParametersOf({ parameters: eventFilters });
const columns = ["id", "type", "resource", "resourceId", "data", "createdAt"].map((name) => ({
  path: [name],
  isJson: name === "data",
}));

export class EventExports {
  readonly #log: EventLog;
  readonly #resources: readonly ResourceModel[];

  readonly #version: EventVersion | undefined;

  /**
   * @param resources those whose events there are
   * @param version that names the fields of rows; by default the current one
   */
  constructor(log: EventLog, resources: readonly ResourceModel[], version?: EventVersion) {
    this.#log = log;
    this.#resources = resources;
    this.#version = version;
  }

  /**
   * @param defaultFormat if the query names none
   * @throws InvalidInput with every error in the query
   */
  source(query: Query, defaultFormat: FormatName): ExportSource {
    const parsed = new ExportQuery(query, own, (name) => filters.has(name));
    const { output, list } = parsed.parse((ofList) => parseEventList(ofList, this.#resources));
    const { format = defaultFormat, escapesFormulas, limit } = output;
    const csv = format === "csv" ? { columns, escapesFormulas } : undefined;
    const filter = { ...list.filter, after: parsed.text("after") };
    const open: ExportSource["open"] = async (caller, signal) => {
      requireScope(caller, eventsScope);
      const version = this.#version;
      return new EventStream(this.#log, caller, { filter: untilNow(filter), limit, csv, signal, version });
    };
    return { name: "events", format, csv, open };
  }
}

interface EventStreamRequest {
  readonly filter: EventFilter;
  readonly limit: number;
  readonly csv: CsvFormat | undefined;
  readonly signal: AbortSignal;
  readonly version: EventVersion | undefined;
}

class EventStream implements RowStream {
  readonly total = undefined;
  /** Nothing runs between its pages. */
  readonly ended = Promise.resolve();
  readonly #log: EventLog;
  readonly #caller: Caller;
  readonly #request: EventStreamRequest;
  #left: number;
  #cursor: string | undefined;
  #hasEnded = false;

  constructor(log: EventLog, caller: Caller, request: EventStreamRequest) {
    this.#log = log;
    this.#caller = caller;
    this.#request = request;
    this.#left = request.limit;
  }

  async next(): Promise<RowChunk | undefined> {
    if (this.#hasEnded || this.#left === 0) return undefined;
    const { filter, csv, signal, version } = this.#request;
    if (signal.aborted) throw streamClosed();
    const limit = Math.min(pageSize, this.#left);
    const page = { filter, limit, cursor: this.#cursor, isOldestFirst: true, isBackward: false };
    const { events, hasMore, nextCursor } = await this.#log.list(this.#caller, page);
    this.#left -= events.length;
    this.#hasEnded = !hasMore;
    this.#cursor = nextCursor ?? undefined;
    const isPartial = hasMore && events.length < limit;
    return {
      lines: linesOf(
        events.map((event) => eventText(event, version)),
        csv,
      ),
      count: events.length,
      ...(isPartial && { charged: Math.max(events.length, minChargeOfPartialPage) }),
    };
  }

  close(): void {
    this.#hasEnded = true;
  }
}

/** Without the events that are recorded while they are sent. */
function untilNow(filter: EventFilter): EventFilter {
  const now = new Date().toISOString();
  const end = filter.lte ?? filter.lt;
  return end !== undefined && end <= now ? filter : { ...filter, lte: now };
}
