// The GraphQL type of an attribute.

import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from "graphql";
import type { Deprecation, NumberOptions } from "../../declare/field-options.ts";
import { isNullableWhenRead } from "../../model/fill.ts";
import type { Attribute, AttributeShape, ResourceModel } from "../../model/model.ts";
import { isEnumValue, pascalCase } from "./naming.ts";
import { calendarDate, dateTime, exactDecimal, json, safeInt } from "./scalars.ts";

export type AttributeType = GraphQLLeafType | GraphQLList<GraphQLNonNull<GraphQLLeafType>>;

/** Creates the types of attributes. The enum of an attribute is created once, for input and output. */
export class AttributeTypes {
  readonly #enums = new Map<Attribute, GraphQLEnumType>();

  /** @param resource prefixes the name of an enum */
  of(resource: Pick<ResourceModel, "name">, attribute: Attribute): AttributeType {
    const { field } = attribute;
    switch (field.kind) {
      // An input names a file by its id; `fileType` is the type in an output.
      case "file":
        return GraphQLID;
      case "json":
        return json;
      case "list":
      case "manyToMany":
        return new GraphQLList(new GraphQLNonNull(this.ofElement(resource, attribute)));
      default:
        return this.#leaf(resource, attribute, field);
    }
  }

  /** The type of each value of a list; for others that of the value. */
  ofElement(resource: Pick<ResourceModel, "name">, attribute: Attribute): GraphQLLeafType {
    const { field } = attribute;
    if (field.kind === "json" || field.kind === "file") return json;
    if (field.kind === "manyToMany") return GraphQLID;
    return this.#leaf(resource, attribute, field.kind === "list" ? field.item : field);
  }

  #leaf(
    resource: Pick<ResourceModel, "name">,
    attribute: Attribute,
    field: Exclude<AttributeShape, { kind: "file" | "json" | "list" | "manyToMany" }>,
  ): GraphQLLeafType {
    switch (field.kind) {
      case "text":
        return GraphQLString;
      case "integer":
        return fitsInt(field.options) ? GraphQLInt : safeInt;
      case "number":
        return GraphQLFloat;
      case "boolean":
        return GraphQLBoolean;
      case "decimal":
        return exactDecimal;
      case "timestamp":
        return dateTime;
      case "date":
        return calendarDate;
      case "id":
      case "belongsTo":
        return GraphQLID;
      case "choice":
      case "computedStatus":
        // Values keep their spelling: `draft`, not `DRAFT`.
        return field.choices.every(isEnumValue)
          ? this.#enumOf(resource, attribute, field.choices)
          : GraphQLString;
    }
  }

  #enumOf(
    resource: Pick<ResourceModel, "name">,
    attribute: Attribute,
    choices: readonly string[],
  ): GraphQLEnumType {
    const cached = this.#enums.get(attribute);
    if (cached) return cached;
    const type = new GraphQLEnumType({
      name: pascalCase(resource.name) + pascalCase(attribute.name),
      description: attribute.field.options.description ?? null,
      values: Object.fromEntries(choices.map((choice) => [choice, {}])),
    });
    this.#enums.set(attribute, type);
    return type;
  }
}

const maxInt = 2_147_483_647;

function fitsInt({ min = -Infinity, max = Infinity }: NumberOptions): boolean {
  return min >= -maxInt && max <= maxInt;
}

/**
 * Whether the type of an output field is nullable. Email addresses are, so that a later version can withhold them from
 * some callers without breaking clients (the specification declares `User.email` like this).
 */
export function isNullableOutput(attribute: Attribute): boolean {
  const { field } = attribute;
  const isNullable = isNullableWhenRead(attribute);
  // Unless a schema excludes it, null is a JSON value.
  if (field.kind === "json") return isNullable || typeof field.options.schema?.type !== "string";
  return isNullable || (field.kind === "text" && field.options.format === "email");
}

/** `Deprecated since 2026-01-01. Will be removed on 2027-01-01.` */
export function deprecationReason(deprecated: Deprecation | undefined): string | null {
  if (!deprecated) return null;
  const removal = deprecated.sunset === undefined ? "" : ` Will be removed on ${deprecated.sunset}.`;
  const page = deprecated.link === undefined ? "" : ` See ${deprecated.link}`;
  return `Deprecated since ${deprecated.since}.${removal}${page}`;
}
