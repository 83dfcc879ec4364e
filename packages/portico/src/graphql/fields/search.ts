// `search(q)`: the newest rows of several resources that contain all words of a text, in one list.

import { GraphQLInt, GraphQLNonNull, GraphQLString, GraphQLUnionType } from "graphql";
import type { Caller } from "../../declare/caller.ts";
import { canRead, requireRead } from "../../engine/authorize.ts";
import type { Engine } from "../../engine/engine.ts";
import { validationError } from "../../errors.ts";
import type { ResourceModel } from "../../model/model.ts";
import { AnswerTooLarge } from "../../query/answer-size.ts";
import { rowSeparator } from "../../query/page.ts";
import type { CursorPage, Position, Selection } from "../../query/read.ts";
import { searchWords } from "../../query/search-terms.ts";
import { showFiles } from "../../query/shown-files.ts";
import { newestFirst } from "../../query/sort.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import { defaultListLimit } from "../schema/naming.ts";
import { listOf } from "../schema/shared-types.ts";
import { type FieldRunner, listMapping } from "./field-mapping.ts";
import { clampLimit } from "./list-arguments.ts";
import type { SharedFieldKind, SharedTypes } from "./root-field.ts";
import { rowSelection } from "./row-members.ts";

export const searchField: SharedFieldKind = (types) => {
  const { searched, rows } = types;
  if (searched.length === 0) return [];
  const resultType = new GraphQLUnionType({
    name: "SearchResult",
    types: searched.map((resource) => rows.get(resource)!),
  });
  const resourceOf = new Map(searched.map((resource) => [rows.get(resource), resource]));
  return [
    {
      name: "search",
      type: listOf(resultType),
      args: {
        q: { type: new GraphQLNonNull(GraphQLString) },
        limit: { type: GraphQLInt, default: { value: defaultListLimit } },
      },
      description:
        "The newest rows in which every word of `q` begins a word, among those that the credential may read.",
      mapping: {
        ...listMapping(({ limit }) => clampLimit(limit)),
        accessOfValues: (type) => resourceOf.get(type)?.access.list,
        compile: (field) => compileSearch(types, field),
      },
    },
  ];
};

function compileSearch({ searched, rows }: SharedTypes, field: CollectedField): FieldRunner {
  const { q, limit } = field.arguments;
  const targets = searched.map((resource): SearchTarget => {
    const selectionSet = field.selectionSets.find(({ type }) => type === rows.get(resource))!;
    return { resource, selection: rowSelection(selectionSet) };
  });
  return async ({ engine, caller, fileUrl }) => {
    const hits = await search(engine, caller, targets, String(q), clampLimit(limit));
    return `[${hits.map(({ text, selection }) => showFiles(selection, text, fileUrl)).join(",")}]`;
  };
}

export interface SearchTarget {
  readonly resource: ResourceModel;
  readonly selection: Selection;
}

interface SearchHit extends SearchTarget {
  readonly text: string;
  readonly position: Position;
}

const maxSearchLength = 1_000;

/** Searches the resources that the caller may read. @throws Problem `insufficient_scope` if there are none */
export async function search(
  engine: Engine,
  caller: Caller,
  targets: readonly SearchTarget[],
  q: string,
  limit: number,
): Promise<SearchHit[]> {
  if (q.length > maxSearchLength)
    throw validationError("q", "max", `q has more than ${maxSearchLength} characters.`);
  const readable = targets.filter(({ resource }) => canRead(caller, resource.access.list));
  if (readable.length === 0) requireRead(caller, targets[0]!.resource.access.list);
  const words = searchWords(q);
  const page: CursorPage = {
    ...{ style: "cursor", limit, cursor: undefined, isBackward: false, includesCursors: true },
  };
  const hits = await Promise.all(
    readable.map(async (target): Promise<SearchHit[]> => {
      const { resource, selection } = target;
      const list = { resource, selection, conditions: [], words, sort: newestFirst(resource), page };
      const { rows, count, positions, isCut } = await engine.list(caller, list);
      if (isCut) throw new AnswerTooLarge("limit");
      if (count === 0) return [];
      const texts = rows.slice(1, -1).split(rowSeparator);
      return texts.map((text, index) => ({ ...target, text, position: positions[index]! }));
    }),
  );
  return hits.flat().sort(byPosition).slice(0, limit);
}

/** Newest first. Timestamps are ISO 8601 strings in UTC, which sort by time. */
function byPosition({ position: one }: SearchHit, { position: other }: SearchHit): number {
  const [createdAt, otherCreatedAt] = [String(one.values[0]), String(other.values[0])];
  if (createdAt !== otherCreatedAt) return createdAt > otherCreatedAt ? -1 : 1;
  return one.id > other.id ? -1 : 1;
}
