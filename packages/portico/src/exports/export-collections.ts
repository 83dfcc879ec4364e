// Everything that can be exported, by the last part of its path.

import { Problem } from "../errors.ts";
import type { Query } from "../query/query-string.ts";
import type { EventExports } from "./event-exports.ts";
import type { ExportSource } from "./export-source.ts";
import type { FormatName } from "./operation.ts";
import type { RowExports } from "./row-exports.ts";

export const events = "events";

export class ExportCollections {
  readonly #rows: RowExports;
  readonly #events: EventExports;

  constructor(rows: RowExports, events: EventExports) {
    this.#rows = rows;
    this.#events = events;
  }

  /**
   * @param defaultFormat if the query names none
   * @throws Problem `not_found`
   * @throws InvalidInput with every error in the query
   */
  source(name: string, query: Query, defaultFormat: FormatName): ExportSource {
    const source =
      name === events
        ? this.#events.source(query, defaultFormat)
        : this.#rows.source(name, query, defaultFormat);
    if (source) return source;
    throw new Problem("not_found", "There is no such collection to export.");
  }
}
