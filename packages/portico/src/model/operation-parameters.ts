// The parameters of an operation: in its path, its query and its headers.

import { attributeSchema, type JsonSchema } from "./json-schema.ts";
import { type Attribute, defaultSort, type ResourceModel } from "./model.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  /** The JSON Schema of one value. */
  readonly schema: JsonSchema;
  readonly description: string;
  /** How often it may occur; several values of a filter mean any of them. */
  readonly maxCount: number;
  /** What a filter compares. */
  readonly filter?: { readonly attribute: Attribute; readonly operator: "in" | RangeOperator };
}

export type RangeOperator = "gte" | "gt" | "lte" | "lt";

export const defaultLimit = 20;
export const maxLimit = 100;
/** A numbered page counts rows from the first, so its number is bounded. */
export const maxPage = 100_000;
const maxFilterValues = 50;

/** What a draft of an operation says about its parameters. */
interface Parameterized {
  readonly kind: string;
  readonly path: string;
  readonly parameters?: readonly Parameter[];
}

export function parametersOf(
  resource: ResourceModel,
  { kind, path, parameters }: Parameterized,
): readonly Parameter[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => pathParameter(name!));
  const others: Readonly<Record<string, readonly Parameter[]>> = {
    list: [...listParameters(resource), ...filterParameters(resource)],
    get: [fields, ...conditionalHeaders],
    replace: conditionalHeaders,
    update: conditionalHeaders,
    delete: conditionalHeaders,
  };
  return Object.freeze([...inPath, ...(parameters ?? others[kind] ?? [])]);
}

/** A parameter of the query that occurs once. */
export function queryParameter(name: string, schema: JsonSchema, description: string): Parameter {
  return Object.freeze({ name, in: "query", schema, description, maxCount: 1 });
}

export function pathParameter(name: string): Parameter {
  const description =
    name === "parentId" ? "The id of the parent." : "The id of the row that the path names.";
  return { name, in: "path", schema: { type: "string" }, description, maxCount: 1 };
}

/** Conditional requests (RFC 9110, section 13). */
const conditionalHeaders: readonly Parameter[] = [
  ["If-Match", "Entity tags, one of which the row must have."],
  ["If-None-Match", "Entity tags, none of which the row may have."],
].map(([name = "", description = ""]) => ({
  name,
  in: "header",
  schema: { type: "string" },
  description,
  maxCount: 1,
}));

const fields = queryParameter(
  "fields",
  { type: "string" },
  "Names of the fields to return, separated by commas; author.name is a field of the author.",
);

function listParameters({ paging, search, sorts }: ResourceModel): Parameter[] {
  const names = [...sorts.keys()].flatMap((name) => [name, `-${name}`]);
  return [
    queryParameter(
      "sort",
      { type: "string", enum: names, default: `-${defaultSort}` },
      "The order; - is descending.",
    ),
    fields,
    limitParameter("limit"),
    ...(paging === "page" ? pageParameters : cursorParameters),
    ...(search.length > 0 ? [queryParameter("q", { type: "string" }, "Words to search for.")] : []),
  ];
}

export function limitParameter(name: string): Parameter {
  const schema = { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit };
  return queryParameter(name, schema, "Rows per page.");
}

export const cursorParameter = queryParameter(
  "cursor",
  { type: "string" },
  "A cursor that an earlier page returned.",
);

const cursorParameters = [
  cursorParameter,
  queryParameter(
    "direction",
    { type: "string", enum: ["forward", "backward"], default: "forward" },
    "The direction in which to read from the cursor.",
  ),
];

const pageParameters = [
  queryParameter(
    "page",
    { type: "integer", minimum: 1, maximum: maxPage, default: 1 },
    "The number of the page, from 1.",
  ),
  limitParameter("perPage"),
];

/** Parameters of either style of paging. */
export const pagingParameters = [...cursorParameters, ...pageParameters].map(({ name }) => name);

const rangeDescriptions: Readonly<Record<RangeOperator, string>> = {
  gte: "At least this value.",
  gt: "More than this value.",
  lte: "At most this value.",
  lt: "Less than this value.",
};

function filterParameters({ filters }: ResourceModel): Parameter[] {
  return [...filters.values()].flatMap(({ attribute, hasRange }): Parameter[] => {
    const { default: _, description: __, ...schema } = attributeSchema({ ...attribute, isOptional: false });
    const parameter = { in: "query", schema } as const;
    const equality: Parameter = {
      ...parameter,
      name: attribute.name,
      description: `One of the values that ${attribute.name} may have.`,
      maxCount: maxFilterValues,
      filter: { attribute, operator: "in" },
    };
    if (!hasRange) return [equality];
    const ranges = (Object.keys(rangeDescriptions) as RangeOperator[]).map((operator) => ({
      ...parameter,
      name: `${attribute.name}[${operator}]`,
      description: rangeDescriptions[operator],
      maxCount: 1,
      filter: { attribute, operator },
    }));
    return [equality, ...ranges];
  });
}
