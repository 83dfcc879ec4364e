// Introspection: writes the results of `__schema` and `__type` as JSON text. The schema does not change while the server
// runs, so results are cached.

import {
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
} from "graphql";
import { type Problem, validationError } from "../../errors.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { TimeSlice } from "../../lib/time-slice.ts";
import type { CollectedField, SelectionSet } from "../document/collect-fields.ts";
import { isIntrospection } from "../fields/meta-fields.ts";

/** Characters of introspection in one response. The usual introspection query returns about 10,000 for each resource. */
const maxCharacters = 8 * 1024 * 1024;
/** Characters of all cached results and their keys. */
const maxCachedCharacters = 8 * 1024 * 1024;

export class Introspection {
  readonly #schema: GraphQLSchema;
  readonly #cache = new BoundedMap<string, string>(
    maxCachedCharacters,
    (key, text) => key.length + text.length,
  );

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /**
   * The results of the fields that query the schema.
   * @throws Problem `validation_error` if they are too long
   */
  async textsOf(fields: readonly CollectedField[]): Promise<ReadonlyMap<CollectedField, string>> {
    const texts = new Map<CollectedField, string>();
    const slice = new TimeSlice();
    let remaining = maxCharacters;
    for (const field of fields) {
      if (!isIntrospection(field)) continue;
      const text = await this.#textOf(field, remaining, slice);
      remaining -= text.length;
      if (remaining < 0) throw tooLong();
      texts.set(field, text);
    }
    return texts;
  }

  async #textOf(field: CollectedField, maxLength: number, slice: TimeSlice): Promise<string> {
    const value = this.#resolve(field, undefined);
    // Not cached: callers choose the names of types that do not exist.
    if (value === undefined || value === null) return "null";
    const key = keyOf(field);
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const { definition, selectionSets } = field;
    const text = await this.#write({ type: definition.type, value, selectionSets }, maxLength, slice);
    this.#cache.set(key, text);
    return text;
  }

  /** Writes a value without recursion, so that it can yield to the event loop anywhere. */
  async #write(root: TypedValue, maxLength: number, slice: TimeSlice): Promise<string> {
    const written: string[] = [];
    const stack: (string | TypedValue)[] = [root];
    let length = 0;
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const parts = typeof next === "string" ? next : this.#partsOf(next);
      if (typeof parts === "string") {
        written.push(parts);
        length += parts.length;
        if (length > maxLength) throw tooLong();
      } else for (const part of parts.reverse()) stack.push(part);
      if (typeof next !== "string" && slice.isOver) await slice.yield();
    }
    return written.join("");
  }

  /** The text of a value, or the texts and values it consists of. */
  #partsOf({ type, value, selectionSets }: TypedValue): string | (string | TypedValue)[] {
    if (isNonNullType(type)) return this.#partsOf({ type: type.ofType, value, selectionSets });
    if (value === undefined || value === null) return "null";
    if (isListType(type)) {
      // The resolvers of graphql-js return lists for list types.
      const items = (value as readonly unknown[]).flatMap((item, index) => {
        const typed = { type: type.ofType, value: item, selectionSets };
        return index === 0 ? [typed] : [",", typed];
      });
      return ["[", ...items, "]"];
    }
    if (isLeafType(type)) return JSON.stringify(type.coerceOutputValue(value));
    // The types of introspection are not abstract, so there is one selection set.
    const members = selectionSets[0]!.fields.flatMap((field, index) => {
      const { responseName, parentType, definition } = field;
      const member = definition.name === "__typename" ? parentType.name : this.#resolve(field, value);
      return [
        `${index === 0 ? "" : ","}"${responseName}":`,
        { type: definition.type, value: member, selectionSets: field.selectionSets },
      ];
    });
    return ["{", ...members, "}"];
  }

  #resolve({ definition, arguments: args }: CollectedField, source: unknown): unknown {
    // The resolvers of introspection use `schema` only.
    return definition.resolve!(source, args, undefined, { schema: this.#schema } as GraphQLResolveInfo);
  }
}

interface TypedValue {
  readonly type: GraphQLOutputType;
  readonly value: unknown;
  readonly selectionSets: readonly SelectionSet[];
}

/** Identifies the result of a field. */
function keyOf({ definition, arguments: args, selectionSets }: CollectedField): string {
  const argumentsText = JSON.stringify(args);
  const inner = selectionSets[0]?.fields.map((field) => `${field.responseName}:${keyOf(field)}`);
  return `${definition.name}${argumentsText === "{}" ? "" : argumentsText}${inner ? `{${inner.join(" ")}}` : ""}`;
}

function tooLong(): Problem {
  const message = `The result of introspection has more than ${maxCharacters} characters.`;
  return validationError("__schema", "max", message);
}
