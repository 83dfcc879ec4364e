// Records the reads of a request instead of running them. The request continues with an empty page, or a row without members.

import type { Read, ReadOne } from "../../query/read.ts";
import type { BoundedRead, RunRead } from "../bounded-read.ts";
import type { ReadInput } from "../compile/input.ts";
import type { ListColumns } from "../compile/list.ts";
import type { ColumnValues } from "../database.ts";

/** The statements of a read, and the plan that they are bound to. */
export interface RecordedRead {
  readonly statements: BoundedRead<Read | ReadOne>;
  readonly input: ReadInput<Read | ReadOne>;
}

export class ReadRecorder {
  readonly #reads: RecordedRead[] = [];

  get reads(): readonly RecordedRead[] {
    return this.#reads;
  }

  readonly record: RunRead = async (statements, input) => {
    // Every plan that the store reads with bounded statements is one of the two.
    const read = { statements, input } as unknown as RecordedRead;
    this.#reads.push(read);
    return [isList(read.input.read) ? emptyPage : emptyRow];
  };
}

export function isList(read: Read | ReadOne): read is Read {
  return "page" in read;
}

/** An incomplete page, so that a search continues with the statement that it would run next. */
const emptyPage: ListColumns = [null, null, 0, 0, 0, 0];
const emptyRow: ColumnValues = ["{}"];
