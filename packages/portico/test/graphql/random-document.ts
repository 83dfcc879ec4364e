// Random valid documents for a schema, with all kinds of fields, arguments and fragments. They are generated from a list of
// numbers, so that fast-check can shrink a failing case.

import {
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";

/** Values for arguments. */
export interface Known {
  readonly ids: readonly string[];
  readonly cursors: readonly string[];
  readonly words: readonly string[];
}

export interface RandomDocument {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function randomDocument(
  schema: GraphQLSchema,
  known: Known,
  numbers: readonly number[],
): RandomDocument {
  return new Writer(schema, known, numbers).document();
}

/** The last use of a key changes with each request. The event log has tests of its own. */
const leftOut: readonly string[] = ["lastUsedAt", "event", "eventsConnection"];

function isStable({ name }: GraphQLField<unknown, unknown>): boolean {
  return !leftOut.includes(name);
}

const maxRootFields = 3;
const maxDepth = 5;

class Writer {
  readonly #schema: GraphQLSchema;
  readonly #known: Known;
  readonly #numbers: readonly number[];
  #index = 0;
  #names = 0;
  readonly #fragments: { readonly name: string; readonly type: string; readonly text: string }[] = [];
  readonly #variables = new Map<string, { readonly type: string; readonly value: unknown }>();

  constructor(schema: GraphQLSchema, known: Known, numbers: readonly number[]) {
    this.#schema = schema;
    this.#known = known;
    this.#numbers = numbers;
  }

  document(): RandomDocument {
    const root = this.#schema.getQueryType()!;
    const fields = Object.values(root.getFields()).filter(isStable);
    const roots = Array.from({ length: 1 + this.#below(maxRootFields) }, () =>
      this.#field(this.#pick(fields), 0, true),
    );
    if (this.#chance(4)) roots.push(`__typename${this.#directives()}`);
    if (this.#chance(6)) roots.push(this.#introspection());
    if (this.#chance(6)) roots.push(this.#spread(root, 0));
    const defined = [...this.#variables].map(([name, { type }]) => `$${name}: ${type}`).join(", ");
    const head = defined === "" ? "query" : `query Random(${defined})`;
    const tail = this.#fragments
      .map(({ name, type, text }) => `\nfragment ${name} on ${type} ${text}`)
      .join("");
    const variables = Object.fromEntries(
      [...this.#variables].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]])),
    );
    return { text: `${head} { ${roots.join(" ")} }${tail}`, variables };
  }

  #below(limit: number): number {
    const number = this.#numbers[this.#index % Math.max(1, this.#numbers.length)] ?? 0;
    this.#index += 1;
    // Zero after three passes, so that the document ends.
    return this.#index > this.#numbers.length * 3 ? 0 : number % limit;
  }

  #chance(of: number): boolean {
    return this.#below(of) === of - 1;
  }

  #pick<T>(all: readonly T[]): T {
    return all[this.#below(all.length)]!;
  }

  #selection(type: GraphQLObjectType, depth: number, isUnique = false): string {
    const fields = Object.values(type.getFields())
      .filter(isStable)
      .filter((field) => depth < maxDepth || !isCompositeType(getNamedType(field.type)));
    const parts = Array.from({ length: 1 + this.#below(5) }, () => {
      if (this.#chance(8)) return `${isUnique ? `${this.#alias("t")}: ` : ""}__typename${this.#directives()}`;
      if (!isUnique && this.#chance(7)) return this.#spread(type, depth);
      if (this.#chance(9)) return `... ${this.#directives()} ${this.#selection(type, depth, isUnique)}`;
      return fields.length > 0 ? this.#field(this.#pick(fields), depth, isUnique) : "__typename";
    });
    return `{ ${parts.join(" ")} }`;
  }

  #introspection(): string {
    const [type, field] = this.#chance(2)
      ? ["__Schema", "__schema"]
      : ["__Type", `__type(name: "${this.#pick(Object.keys(this.#schema.getTypeMap()))}")`];
    // Deeper nesting exceeds the limits.
    const selection = this.#selection(this.#schema.getType(type) as GraphQLObjectType, maxDepth - 2);
    return `${this.#alias("i")}: ${field}${this.#directives()} ${selection}`;
  }

  /** An existing or new fragment on the type. */
  #spread(type: GraphQLObjectType, depth: number): string {
    const known = this.#fragments.filter((fragment) => fragment.type === type.name);
    if (known.length > 0 && this.#chance(2)) return `...${this.#pick(known).name}${this.#directives()}`;
    if (type === this.#schema.getQueryType()) return `... on ${type.name} { ${this.#name("t")}: __typename }`;
    const text = this.#selection(type, depth);
    const name = this.#name("F");
    this.#fragments.push({ name, type: type.name, text });
    return `...${name}${this.#directives()}`;
  }

  /** Fields with arguments have unique aliases. Others may be merged with fields of the same name. */
  #field(field: GraphQLField<unknown, unknown>, depth: number, isUnique: boolean): string {
    const needsArguments = field.args.some(({ type }) => isNonNullType(type));
    const argumentsText =
      needsArguments || (field.args.length > 0 && this.#chance(2)) ? this.#arguments(field) : "";
    const alias = isUnique || argumentsText !== "" || this.#chance(4) ? `${this.#alias("a")}: ` : "";
    const head = `${alias}${field.name}${argumentsText}`;
    const inside = (): string => this.#inside(field, depth);
    const whole = `${head}${this.#directives()} ${inside()}`;
    return this.#chance(9) ? `${whole} ${head} ${inside()}` : whole;
  }

  #inside(field: GraphQLField<unknown, unknown>, depth: number): string {
    const type = getNamedType(field.type);
    if (isObjectType(type)) return this.#selection(type, depth + 1);
    if (!isAbstractType(type)) return "";
    const own = "getFields" in type && this.#chance(2) ? "id" : "";
    const parts = this.#schema
      .getPossibleTypes(type)
      .filter(() => this.#chance(2))
      .map((each) => `... on ${each.name} ${this.#selection(each, depth + 1, true)}`);
    return `{ __typename ${own} ${parts.join(" ")} }`;
  }

  #directives(): string {
    if (!this.#chance(7)) return "";
    const condition = this.#chance(2) ? this.#variable("Boolean!", this.#chance(2)) : String(this.#chance(2));
    return ` @${this.#pick(["skip", "include"])}(if: ${condition})`;
  }

  #arguments({ args }: GraphQLField<unknown, unknown>): string {
    // Arguments of both directions exclude each other, so they are rarely combined.
    const wrong = this.#chance(12)
      ? []
      : this.#pick([
          ["first", "after"],
          ["last", "before"],
        ]);
    const argumentsText = args.flatMap((argument) => {
      if (wrong.includes(argument.name) || (!isNonNullType(argument.type) && !this.#chance(2))) return [];
      return [`${argument.name}: ${this.#argument(argument)}`];
    });
    return argumentsText.length === 0 ? "" : `(${argumentsText.join(", ")})`;
  }

  #argument({ name, type }: GraphQLArgument): string {
    const value = this.#value(name, type);
    return this.#chance(3) ? this.#variable(String(type), value) : this.#literal(value, type);
  }

  #variable(type: string, value: unknown): string {
    const name = this.#name("v");
    this.#variables.set(name, { type, value });
    return `$${name}`;
  }

  #value(name: string, type: GraphQLInputType): unknown {
    if (!isNonNullType(type) && this.#chance(6)) return null;
    const inner = getNullableType(type);
    if (isListType(inner))
      return Array.from({ length: this.#below(3) }, () => this.#value(name, inner.ofType));
    if (inner instanceof GraphQLEnumType) return this.#pick(inner.getValues()).name;
    if (inner instanceof GraphQLInputObjectType) {
      const fields = Object.values(inner.getFields()).filter(() => this.#chance(3));
      return Object.fromEntries(fields.map((field) => [field.name, this.#value(field.name, field.type)]));
    }
    switch (inner.name) {
      case "Int":
      case "SafeInt":
        return this.#pick([1, 2, 3, 0, 4, -1]);
      case "Float":
        return this.#pick([0, 1.5, 3]);
      case "Boolean":
        return this.#chance(2);
      case "ID":
        return this.#id(name);
      case "DateTime":
        return this.#pick(["2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"]);
      default:
        return this.#pick(name === "after" || name === "before" ? this.#known.cursors : this.#known.words);
    }
  }

  /** Usually an id of the right type, derived from the name of the argument: `postId`. */
  #id(name: string): string {
    const fitting = this.#known.ids.filter((id) => id.startsWith(`${name.replace(/Id$/, "")}_`));
    if (fitting.length > 0 && !this.#chance(6)) return this.#pick(fitting);
    return this.#pick([...this.#known.ids, "nobody", "post_00000000000000000000000000"]);
  }

  #literal(value: unknown, type: GraphQLInputType): string {
    const inner = getNullableType(type);
    if (value === null) return "null";
    if (Array.isArray(value) && isListType(inner))
      return `[${value.map((each) => this.#literal(each, inner.ofType)).join(", ")}]`;
    if (inner instanceof GraphQLEnumType) return String(value);
    if (inner instanceof GraphQLInputObjectType) {
      const fields = inner.getFields();
      const parts = Object.entries(value as object).map(
        ([name, each]) => `${name}: ${this.#literal(each, fields[name]!.type)}`,
      );
      return `{ ${parts.join(", ")} }`;
    }
    return JSON.stringify(value);
  }

  /** Some differ only in characters that PostgreSQL would truncate. */
  #alias(prefix: string): string {
    return this.#name(this.#chance(5) ? prefix.repeat(63) : prefix);
  }

  #name(prefix: string): string {
    this.#names += 1;
    return `${prefix}${this.#names}`;
  }
}
