// `search`: the newest rows of several resources in which all words are found, as one list.

import type { Caller } from "../declare/caller.ts";
import type { ResourceModel } from "../declare/model.ts";
import { requireScope } from "../engine/authorise.ts";
import type { Engine } from "../engine/engine.ts";
import { fault } from "../errors.ts";
import { AnswerTooLarge } from "../plan/answer-size.ts";
import { rowSeparator } from "../plan/page.ts";
import type { CursorPage, Position, Read, Selection } from "../plan/read.ts";
import { wordsOf } from "../plan/words.ts";
import { newestFirst } from "./list-arguments.ts";

export interface Searched {
  readonly resource: ResourceModel;
  readonly selection: Selection;
}

interface Found extends Searched {
  readonly text: string;
  readonly place: Position;
}

/** The longest text to search for. */
const longestText = 1_000;

/** Only what the caller may read is looked into. @throws Problem `insufficient_scope` where that is nothing */
export async function search(
  engine: Engine,
  caller: Caller,
  all: readonly Searched[],
  q: string,
  limit: number,
): Promise<Found[]> {
  if (q.length > longestText) throw fault("q", "max", `q has more than ${longestText} characters.`);
  const readable = all.filter(({ resource }) => caller.scopes.has(resource.scopes.read));
  if (readable.length === 0) requireScope(caller, all[0]!.resource.scopes.read);
  const words = wordsOf(q);
  const found = await Promise.all(
    readable.map(async (searched): Promise<Found[]> => {
      const { resource, selection } = searched;
      const page: CursorPage = {
        style: "cursor",
        limit,
        position: undefined,
        isBackward: false,
        isEveryPlaceTold: true,
      };
      const read: Read = { resource, selection, conditions: [], words, sort: newestFirst(resource), page };
      const { rows, count, places, isCut } = await engine.list(caller, read);
      if (isCut) throw new AnswerTooLarge("limit");
      if (count === 0) return [];
      const texts = rows.slice(1, -1).split(rowSeparator);
      return texts.map((text, index) => ({ ...searched, text, place: places![index]! }));
    }),
  );
  return found.flat().sort(byPlace).slice(0, limit);
}

/** Moments are ISO 8601 texts in UTC, which sort as they are. */
function byPlace({ place: one }: Found, { place: other }: Found): number {
  if (one.value !== other.value) return String(one.value) > String(other.value) ? -1 : 1;
  return one.id > other.id ? -1 : 1;
}
