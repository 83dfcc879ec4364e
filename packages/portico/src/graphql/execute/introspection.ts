// Introspection: what a caller asks about the schema, written as JSON text. The schema never changes while the server
// runs, so an answer is kept for whoever asks the same.

import {
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
} from "graphql";
import { validationError } from "../../errors.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { TimeSlice } from "../../lib/time-slice.ts";
import type { CollectedField, Subselection } from "../document/collect-fields.ts";

/** Characters that one operation may learn of the schema. The usual question of tools has some 10,000 for a resource. */
const maxCharacters = 8 * 1024 * 1024;
/** Characters of all answers that are kept, with their questions. */
const maxCached = 8 * 1024 * 1024;

/** Whether a root field asks about the schema: `__schema` or `__type`. */
export function isIntrospection({ definition: field }: CollectedField): boolean {
  return field.name === "__schema" || field.name === "__type";
}

export class Introspection {
  readonly #schema: GraphQLSchema;
  readonly #kept = new BoundedMap<string, string>(maxCached, (shape, text) => shape.length + text.length);

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /**
   * The text of each root field that asks about the schema.
   * @throws Problem `validation_error` where they come to more than a document may ask for
   */
  async textsOf(fields: readonly CollectedField[]): Promise<ReadonlyMap<CollectedField, string>> {
    const texts = new Map<CollectedField, string>();
    const slice = new TimeSlice();
    let left = maxCharacters;
    for (const selected of fields) {
      if (!isIntrospection(selected)) continue;
      const text = await this.#textOf(selected, left, slice);
      left -= text.length;
      if (left < 0) throw tooMuch();
      texts.set(selected, text);
    }
    return texts;
  }

  async #textOf(
    { definition: field, arguments: args, subselections }: CollectedField,
    maxLength: number,
    slice: TimeSlice,
  ): Promise<string> {
    const about = this.#resolve({ definition: field, arguments: args }, undefined);
    // What callers name and is not there must not fill the memory.
    if (about === undefined || about === null) return "null";
    const shape = `${field.name}${argumentsText(args)}${shapeOf(subselections)}`;
    const known = this.#kept.get(shape);
    if (known !== undefined) return known;
    const text = await this.#write(
      { type: field.type, value: about, inside: subselections },
      maxLength,
      slice,
    );
    this.#kept.set(shape, text);
    return text;
  }

  /** Writes a value without recursion, so that it can pause anywhere. */
  async #write(value: Value, maxLength: number, slice: TimeSlice): Promise<string> {
    const written: string[] = [];
    const open: (string | Value)[] = [value];
    let length = 0;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const parts = typeof next === "string" ? next : this.#partsOf(next);
      if (typeof parts === "string") {
        written.push(parts);
        length += parts.length;
        if (length > maxLength) throw tooMuch();
      } else for (const part of parts.reverse()) open.push(part);
      if (typeof next !== "string" && slice.isOver) await slice.yield();
    }
    return written.join("");
  }

  /** The text of a value, or the texts and values that it consists of. */
  #partsOf({ type, value, inside }: Value): string | (string | Value)[] {
    if (isNonNullType(type)) return this.#partsOf({ type: type.ofType, value, inside });
    if (value === undefined || value === null) return "null";
    if (isListType(type)) {
      // The schema answers with a list where its type is one.
      const items = (value as readonly unknown[]).flatMap((item, index) => {
        const each = { type: type.ofType, value: item, inside };
        return index === 0 ? [each] : [",", each];
      });
      return ["[", ...items, "]"];
    }
    if (isLeafType(type)) return JSON.stringify(type.coerceOutputValue(value));
    // No type of introspection is abstract.
    const members = inside[0]!.fields.flatMap((selected, index) => {
      const { responseName, definition } = selected;
      const member = definition.name === "__typename" ? inside[0]!.type.name : this.#resolve(selected, value);
      return [
        `${index === 0 ? "" : ","}"${responseName}":`,
        { type: definition.type, value: member, inside: selected.subselections },
      ];
    });
    return ["{", ...members, "}"];
  }

  #resolve(
    { definition: field, arguments: args }: Pick<CollectedField, "definition" | "arguments">,
    source: unknown,
  ): unknown {
    // Resolvers of introspection look at nothing else.
    return field.resolve!(source, args, undefined, { schema: this.#schema } as GraphQLResolveInfo);
  }
}

interface Value {
  readonly type: GraphQLOutputType;
  readonly value: unknown;
  readonly inside: readonly Subselection[];
}

/** What tells two questions apart. */
function shapeOf(inside: readonly Subselection[]): string {
  const [of] = inside;
  if (!of) return "";
  const fields = of.fields.map((selected) => {
    return `${selected.responseName}:${selected.definition.name}${argumentsText(selected.arguments)}${shapeOf(selected.subselections)}`;
  });
  return `{${fields.join(" ")}}`;
}

function argumentsText(args: CollectedField["arguments"]): string {
  const text = JSON.stringify(args);
  return text === "{}" ? "" : text;
}

function tooMuch() {
  return validationError(
    "__schema",
    "max",
    `The operation asks for more than ${maxCharacters} characters of introspection.`,
  );
}
