// Random policies on a small tree of rows, and a plain model in memory of what they allow: tops have mids, mids have
// leaves, and a leaf may refer to any top as its peer, and to several as its friends.

import fc from "fast-check";

export const levels = ["top", "mid", "leaf"] as const;
export type Level = (typeof levels)[number];

export const operations = ["read", "create", "update", "delete"] as const;
export type Operation = (typeof operations)[number];

/** What a policy returns. */
export type Answer = boolean | Where;
export type Where = Readonly<Record<string, unknown>>;

/** The operations that policies of a level decide about; `all` is one function for all of them. */
export type Declared = "all" | readonly Operation[];
export type Declarations = Readonly<Record<Level, Declared>>;
export type Policies = Readonly<Record<Level, Readonly<Record<Operation, Answer>>>>;

export type Body = Readonly<Record<string, string | number | boolean | readonly string[] | null>>;

export interface Row {
  readonly level: Level;
  readonly parent: Row | undefined;
  readonly id: string;
  values: Readonly<Record<string, unknown>>;
}

const [past, future] = ["2001-02-03T04:05:06.789Z", "2901-02-03T04:05:06.789Z"];
/** Values of the writable fields. */
const inputValues = {
  word: ["a", "A", "é", "", "'", "a b", "ab", "\u{1f680}", "a\u{10ffff}"],
  rank: [0, 1, -1, 2 ** 53 - 1],
  weight: [0, 0.1, -2.5, 1e21],
  isOpen: [true, false],
  kind: ["plain", "rich"],
  endsAt: [past, future],
  tags: [[], ["a"], ["a", "A"], ["b", "b"], ["", "a b"]],
} as const;
/** The same values, in the forms that a policy can return. */
const written = {
  ...inputValues,
  endsAt: [past, future, "2001-02-03T05:05:06.789+01:00"],
  progress: ["over", "under_way"],
  /** Elements of the list. */
  tags: ["a", "A", "b", ""],
};
type FieldName = keyof typeof written;

export const body: fc.Arbitrary<Body> = fc.record(
  Object.fromEntries(
    Object.entries(inputValues).map(([name, values]) => [
      name,
      fc.option(fc.constantFrom<unknown>(...values), { freq: 3 }),
    ]),
  ),
) as fc.Arbitrary<Body>;

export function progressOf({ endsAt }: Readonly<Record<string, unknown>>): string {
  return endsAt === past ? "over" : "under_way";
}

const related: Readonly<
  Record<Level, { references: Record<string, Level>; collections: Record<string, Level> }>
> = {
  top: { references: {}, collections: { mids: "mid", leaves: "leaf" } },
  mid: { references: { top: "top" }, collections: { leaves: "leaf" } },
  leaf: { references: { mid: "mid", peer: "top" }, collections: { friends: "top" } },
};

/** The computed status is more frequent, because it is the hardest to get right. */
const fieldMember = fc
  .constantFrom<FieldName>(
    "word",
    "word",
    "rank",
    "weight",
    "isOpen",
    "kind",
    "endsAt",
    "progress",
    "progress",
    "tags",
    "tags",
  )
  .chain((name) => fc.tuple(fc.constant(name), fieldCondition(name)));

function fieldCondition(name: FieldName): fc.Arbitrary<unknown> {
  const plain = fc.constantFrom<unknown>(...written[name]);
  const value = fc.oneof(
    { weight: 12, arbitrary: plain },
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
  const list = fc.array(value, { maxLength: 3 });
  const bound = fc.oneof(
    { weight: 12, arbitrary: plain },
    { weight: 1, arbitrary: fc.constantFrom(undefined, null) },
  );
  const operators: Record<string, fc.Arbitrary<unknown>> = {
    not: value,
    in: list,
    notIn: list,
    isNull: fc.boolean(),
  };
  if (name !== "progress" && name !== "tags")
    for (const order of ["lt", "lte", "gt", "gte"]) operators[order] = bound;
  if (name === "word") for (const search of ["contains", "startsWith"]) operators[search] = bound;
  const operator = fc
    .constantFrom(...Object.keys(operators))
    .chain((each) => operators[each]!.map((operand) => ({ [each]: operand })));
  return fc.oneof(value, list, operator, operator);
}

/** A comparison of a reference with rows, which are not planted yet. `resolve` puts their ids in. */
function referenceMember(name: string, target: Level): fc.Arbitrary<readonly [string, unknown]> {
  const value = fc.oneof(
    { weight: 6, arbitrary: fc.nat({ max: 2 }).map((index): unknown => ({ planted: target, index })) },
    { weight: 1, arbitrary: fc.constantFrom(null, undefined) },
  );
  return fc
    .oneof(
      value,
      fc.array(value, { maxLength: 2 }),
      value.map((one) => ({ not: one })),
      fc.boolean().map((isNull) => ({ isNull })),
    )
    .map((condition) => [name === "friend" ? "friendIds" : `${name}Id`, condition]);
}

/** The policies with the ids of planted rows. */
export function resolve(policies: Policies, rows: readonly Row[]): Policies {
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved);
    if (typeof value !== "object" || value === null) return value;
    if ("planted" in value) {
      const { planted, index } = value as unknown as { planted: Level; index: number };
      const ofLevel = rows.filter(({ level }) => level === planted);
      return ofLevel[index % ofLevel.length]!.id;
    }
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolved(each)]));
  };
  return resolved(policies) as Policies;
}

function whereOf(level: Level, depth: number): fc.Arbitrary<Where> {
  const members: fc.Arbitrary<readonly [string, unknown]>[] = [
    ...[fieldMember, fieldMember],
    ...Object.entries(related[level].references).map(([name, target]) => referenceMember(name, target)),
    ...(level === "leaf" ? [referenceMember("friend", "top")] : []),
  ];
  if (depth > 0) {
    const inner = whereOf(level, depth - 1);
    const several = fc.array(inner, { maxLength: 3 });
    const { references, collections } = related[level];
    members.push(
      several.map((all) => ["OR", all]),
      several.map((all) => ["AND", all]),
      inner.map((one) => ["NOT", one]),
      ...Object.entries(references).map(([name, target]) =>
        whereOf(target, depth - 1).map((one): readonly [string, unknown] => [name, one]),
      ),
      ...Object.entries(collections).map(([name, target]) =>
        fc
          .tuple(fc.constantFrom("some", "none"), whereOf(target, depth - 1))
          .map(([quantifier, one]): readonly [string, unknown] => [name, { [quantifier]: one }]),
      ),
    );
  }
  return fc.array(fc.oneof(...members), { maxLength: 2 }).map((each) => Object.fromEntries(each));
}

const answerOf = (level: Level): fc.Arbitrary<Answer> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
    { weight: 8, arbitrary: whereOf(level, 2) },
  );

const answersOf = (level: Level) =>
  fc.record({
    read: answerOf(level),
    create: answerOf(level),
    update: answerOf(level),
    delete: answerOf(level),
  });

export const anyPolicies: fc.Arbitrary<Policies> = fc.record({
  top: answersOf("top"),
  mid: answersOf("mid"),
  leaf: answersOf("leaf"),
});

const declared: fc.Arbitrary<Declared> = fc.oneof(
  fc.constant("all" as const),
  fc.subarray([...operations]) as fc.Arbitrary<readonly Operation[]>,
);
export const anyDeclarations: fc.Arbitrary<Declarations> = fc.record({
  top: declared,
  mid: declared,
  leaf: declared,
});

/** The rows of a tree: each has a body, each child an arbitrary parent, and each leaf perhaps a peer. */
export const anyForest = fc.record({
  top: fc.array(body, { minLength: 1, maxLength: 3 }),
  mid: fc.array(fc.tuple(fc.nat(), body), { minLength: 1, maxLength: 6 }),
  leaf: fc.array(fc.tuple(fc.nat(), body, fc.option(fc.nat())), { minLength: 1, maxLength: 12 }),
});
export type Forest = typeof anyForest extends fc.Arbitrary<infer Planted> ? Planted : never;

/** Undefined where the outcome depends on a value that is undefined. */
type Truth = boolean | undefined;

function all(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false;
  return truths.includes(undefined) ? undefined : true;
}

function not(truth: Truth): Truth {
  return truth === undefined ? undefined : !truth;
}

const any = (truths: readonly Truth[]): Truth => not(all(truths.map(not)));

/** What policies allow on rows. */
export class PolicyModel {
  readonly rows: Row[] = [];
  readonly #inherits: boolean;
  readonly #declarations: Declarations;
  policies: Policies;

  /** @param inherits whether the middle level inherits policies */
  constructor(inherits: boolean, declarations: Declarations, policies: Policies) {
    this.#inherits = inherits;
    this.#declarations = declarations;
    this.policies = policies;
  }

  isVisible(row: Row): boolean {
    const { level, parent } = row;
    if (!this.#meetsOwn(row, "read")) return false;
    return parent === undefined || !this.#inheritsAt(level) || this.isVisible(parent);
  }

  /** Whether the policies for a write allow it, apart from those for reading. */
  isWritable(row: Row, operation: Exclude<Operation, "read">): boolean {
    const declared = this.#declarations[row.level];
    if (declared === "all" || declared.includes(operation)) return this.#meetsOwn(row, operation);
    return !row.parent || !this.#inheritsAt(row.level) || this.isWritable(row.parent, "update");
  }

  #inheritsAt(level: Level): boolean {
    return level !== "mid" || this.#inherits;
  }

  #meetsOwn(row: Row, operation: Operation): boolean {
    const declared = this.#declarations[row.level];
    if (declared !== "all" && !declared.includes(operation)) return true;
    const answer = this.policies[row.level][declared === "all" ? "read" : operation];
    return typeof answer === "boolean" ? answer : this.#truth(answer, row) === true;
  }

  #truth(where: unknown, row: Row): Truth {
    if (where === undefined) return undefined;
    return all(Object.entries(where as Where).map(([name, value]) => this.#member(name, value, row)));
  }

  #member(name: string, value: unknown, row: Row): Truth {
    if (name === "NOT") return not(this.#truth(value, row));
    if (name === "AND") return all((value as unknown[]).map((each) => this.#truth(each, row)));
    if (name === "OR") return any((value as unknown[]).map((each) => this.#truth(each, row)));
    if (name in related[row.level].references) {
      const target = name === "peer" ? this.rows.find(({ id }) => id === row.values.peerId) : row.parent;
      return target ? this.#truth(value, target) : false;
    }
    const level = related[row.level].collections[name];
    if (level) {
      const members = this.rows.filter((each) =>
        name === "friends"
          ? listOf(row.values.friendIds).includes(each.id)
          : each.level === level && (each.parent === row || each.values.peerId === row.id),
      );
      const [[quantifier, inner]] = Object.entries(value as Where) as [[string, unknown]];
      const some = any(members.map((each) => this.#truth(inner, each)));
      return quantifier === "some" ? some : not(some);
    }
    return compared(name, value, row.values[name]);
  }
}

function compared(name: string, condition: unknown, value: unknown): Truth {
  if (Array.isArray(condition)) return any(condition.map((each) => equals(name, each, value)));
  if (typeof condition !== "object" || condition === null) return equals(name, condition, value);
  return all(Object.entries(condition).map(([operator, operand]) => applied(name, operator, operand, value)));
}

function applied(name: string, operator: string, operand: unknown, value: unknown): Truth {
  if (operator === "not") return not(equals(name, operand, value));
  if (operator === "in") return any((operand as unknown[]).map((each) => equals(name, each, value)));
  if (operator === "notIn") return not(any((operand as unknown[]).map((each) => equals(name, each, value))));
  if (operator === "isNull") return (value === null || listOf(value, [0]).length === 0) === operand;
  if (operand === undefined || operand === null) return undefined;
  if (value === null) return false;
  if (operator === "contains") return String(value).includes(String(operand));
  if (operator === "startsWith") return String(value).startsWith(String(operand));
  const [one, other] = [value, normal(name, operand)] as [string | number, string | number];
  const order =
    typeof one === "string" ? Buffer.compare(Buffer.from(one), Buffer.from(String(other))) : +one - +other;
  if (operator === "lt") return order < 0;
  if (operator === "lte") return order <= 0;
  return operator === "gt" ? order > 0 : order >= 0;
}

/** The elements of a list. @param other those of a value that is no list */
function listOf(value: unknown, other: readonly unknown[] = []): readonly unknown[] {
  return Array.isArray(value) ? value : other;
}

function equals(name: string, expected: unknown, value: unknown): Truth {
  if (Array.isArray(value) && expected !== undefined && expected !== null) return value.includes(expected);
  return expected === undefined || expected === null ? undefined : normal(name, expected) === value;
}

function normal(name: string, value: unknown): unknown {
  return name === "endsAt" && typeof value === "string" ? new Date(value).toISOString() : value;
}
