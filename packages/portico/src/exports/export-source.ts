// What an export sends: rows of a collection, or events.

import type { Caller } from "../declare/caller.ts";
import type { CsvFormat } from "../lib/csv.ts";
import type { RowStream } from "../store/row-stream.ts";
import type { FormatName } from "./operation.ts";

export interface ExportSource {
  /** Of the collection, as its path has it. */
  readonly name: string;
  readonly format: FormatName;
  /** The columns, if the format is CSV. */
  readonly csv: CsvFormat | undefined;
  /**
   * @param signal ends the stream, also before it is open
   * @throws Problem
   */
  open(caller: Caller, signal: AbortSignal): Promise<RowStream>;
}
