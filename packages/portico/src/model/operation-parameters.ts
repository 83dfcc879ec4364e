// The parameters of an operation: in its path, its query and its headers.

import { attributeSchema, type JsonSchema } from "./json-schema.ts";
import { defaultSort, type FilterModel, type FilterOperator, type ResourceModel } from "./model.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  /** The JSON Schema of one value. */
  readonly schema: JsonSchema;
  readonly description: string;
  /** How often it may occur; several values of a filter mean any of them. */
  readonly maxCount: number;
  /** Whether a request without it is refused. Those of the path always are. */
  readonly isRequired?: boolean;
  /** What a filter compares. */
  readonly filter?: { readonly filter: FilterModel; readonly operator: FilterOperator };
}

export const defaultLimit = 20;
export const maxLimit = 100;
/** A numbered page counts rows from the first, so its number is bounded. */
export const maxPage = 100_000;

/** The number of fields that a request can sort by, besides the id that follows them. */
export const maxSortKeys = 3;
/** Values of one filter. */
export const maxFilterValues = 50;

/** The query parameter that asks for deleted rows. */
export const deletedParameter = "deleted";
/** When a row was deleted: only deleted rows have it, and can be sorted by it. */
export const deletedAtName = "deletedAt";

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
    get: [fieldsOf(resource), ...deletedParameters(resource), ...conditionalHeaders],
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

function fieldsOf({ references }: ResourceModel): Parameter {
  const paths = references.flatMap(({ reference }) => {
    const { isExposed, attributes } = reference!.target;
    const shown = attributes.find((each) => each.name !== "id" && !each.isInternal && !each.reference);
    return isExposed && shown ? [`${reference!.name}.${shown.name}`] : [];
  });
  const example = paths.length > 0 ? `; ${paths[0]} is a field of another row` : "";
  return queryParameter(
    "fields",
    { type: "string" },
    `Names of the fields to return, separated by commas${example}.`,
  );
}

function deletedParameters({ isSoftDeleted, scopes }: ResourceModel): Parameter[] {
  if (!isSoftDeleted) return [];
  const description = `true for rows that were deleted and can be restored. They also require the scope ${scopes.write}.`;
  return [queryParameter(deletedParameter, { type: "boolean", default: false }, description)];
}

function listParameters(resource: ResourceModel): Parameter[] {
  const { paging, search, sorts, isSoftDeleted } = resource;
  const sortable = [...sorts.keys(), ...(isSoftDeleted ? [deletedAtName] : [])];
  const one = `-?(${sortable.join("|")})`;
  return [
    queryParameter(
      "sort",
      { type: "string", pattern: `^${one}(,${one}){0,${maxSortKeys - 1}}$`, default: `-${defaultSort}` },
      `Up to ${maxSortKeys} fields, the most significant first, separated by commas; - is descending.${isSoftDeleted ? ` ${deletedAtName} only with ${deletedParameter}=true.` : ""}`,
    ),
    fieldsOf(resource),
    limitParameter("limit"),
    ...(paging === "page" ? pageParameters : cursorParameters),
    ...deletedParameters(resource),
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

export const cursorParameters: readonly Parameter[] = [
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

/** The parameters of an operator: its schema, from that of one value, and how often it occurs. */
const operatorParameters: Readonly<
  Record<
    FilterOperator,
    { readonly description: string; readonly isList?: true; readonly schema?: JsonSchema }
  >
> = {
  eq: { description: "One of the values that the field may have.", isList: true },
  in: { description: "The values that the field may have, separated by commas.", schema: { type: "string" } },
  ne: { description: "A value that the field may not have.", isList: true },
  isNull: { description: "Whether the field has no value.", schema: { type: "boolean" } },
  gte: { description: "At least this value." },
  gt: { description: "More than this value." },
  lte: { description: "At most this value." },
  lt: { description: "Less than this value." },
  contains: { description: "A text that the field contains. Case matters.", schema: { type: "string" } },
  startsWith: { description: "A text that the field begins with. Case matters.", schema: { type: "string" } },
};

function filterParameters({ filters }: ResourceModel): Parameter[] {
  return [...filters.values()].flatMap((filter) => {
    const { name, attribute, operators } = filter;
    const {
      default: _,
      description: __,
      ...valueSchema
    } = attributeSchema({ ...(attribute.element ?? attribute), isOptional: false });
    return [...operators].map((operator): Parameter => {
      const { description, isList = false, schema = valueSchema } = operatorParameters[operator];
      return {
        ...{ in: "query", name: operator === "eq" ? name : `${name}[${operator}]`, schema, description },
        ...{ maxCount: isList ? maxFilterValues : 1, filter: { filter, operator } },
      };
    });
  });
}
