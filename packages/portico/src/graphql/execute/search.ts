// `search`: the newest rows of several resources in which all words are found, as one list.

import type { Caller } from "../../declare/caller.ts";
import { requireScope } from "../../engine/authorize.ts";
import type { Engine } from "../../engine/engine.ts";
import { validationError } from "../../errors.ts";
import type { ResourceModel } from "../../model/model.ts";
import { AnswerTooLarge } from "../../query/answer-size.ts";
import { rowSeparator } from "../../query/page.ts";
import type { CursorPage, ListRequest, Position, Selection } from "../../query/read.ts";
import { searchWords } from "../../query/search-terms.ts";
import { newestFirst } from "../schema/list-arguments.ts";

export interface SearchTarget {
  readonly resource: ResourceModel;
  readonly selection: Selection;
}

interface SearchHit extends SearchTarget {
  readonly text: string;
  readonly position: Position;
}

/** The longest text to search for. */
const maxTextLength = 1_000;

/** Only what the caller may read is looked into. @throws Problem `insufficient_scope` where that is nothing */
export async function search(
  engine: Engine,
  caller: Caller,
  all: readonly SearchTarget[],
  q: string,
  limit: number,
): Promise<SearchHit[]> {
  if (q.length > maxTextLength)
    throw validationError("q", "max", `q has more than ${maxTextLength} characters.`);
  const readable = all.filter(({ resource }) => caller.scopes.has(resource.scopes.read));
  if (readable.length === 0) requireScope(caller, all[0]!.resource.scopes.read);
  const words = searchWords(q);
  const hits = await Promise.all(
    readable.map(async (target): Promise<SearchHit[]> => {
      const { resource, selection } = target;
      const page: CursorPage = {
        style: "cursor",
        limit,
        cursor: undefined,
        isBackward: false,
        includesCursors: true,
      };
      const list: ListRequest = {
        resource,
        selection,
        conditions: [],
        words,
        sort: newestFirst(resource),
        page,
      };
      const { rows, count, positions, isCut } = await engine.list(caller, list);
      if (isCut) throw new AnswerTooLarge("limit");
      if (count === 0) return [];
      const texts = rows.slice(1, -1).split(rowSeparator);
      return texts.map((text, index) => ({ ...target, text, position: positions[index]! }));
    }),
  );
  return hits.flat().sort(byPosition).slice(0, limit);
}

/** Moments are ISO 8601 texts in UTC, which sort as they are. */
function byPosition({ position: one }: SearchHit, { position: other }: SearchHit): number {
  if (one.value !== other.value) return String(one.value) > String(other.value) ? -1 : 1;
  return one.id > other.id ? -1 : 1;
}
