// Which GraphQL type an attribute has.

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
import type { Deprecation, FieldShape, NumberOptions } from "../../declare/field.ts";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import { isEnumValue, pascalCase } from "./naming.ts";
import { dateTime, json, safeInt } from "./scalars.ts";

/** The types of attributes; an enumeration is made once for its input and its output. */
export type AttributeType = GraphQLLeafType | GraphQLList<GraphQLNonNull<GraphQLLeafType>>;

export class AttributeTypes {
  readonly #enums = new Map<Attribute, GraphQLEnumType>();

  /** @param resource what an enumeration is named after */
  of(resource: Pick<ResourceModel, "name">, attribute: Attribute): AttributeType {
    const { field } = attribute;
    switch (field.kind) {
      case "json":
        return json;
      case "list":
        return new GraphQLList(new GraphQLNonNull(this.#leaf(resource, attribute, field.item)));
      default:
        return this.#leaf(resource, attribute, field);
    }
  }

  #leaf(
    resource: Pick<ResourceModel, "name">,
    attribute: Attribute,
    field: Exclude<FieldShape, { kind: "json" | "list" }>,
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
      case "timestamp":
        return dateTime;
      case "id":
      case "belongsTo":
        return GraphQLID;
      case "choice":
      case "computedStatus":
        // Words go through as they are: `draft`, not `DRAFT`.
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
 * Whether an answer may hold null. An address that could be withheld from some callers one day must be able to go
 * without breaking clients (the specification has `User.email` so).
 */
export function isNullableOutput({ isNullable, field }: Attribute): boolean {
  // Null is a JSON value like any other where no schema says otherwise.
  if (field.kind === "json") return isNullable || typeof field.options.schema?.type !== "string";
  return isNullable || (field.kind === "text" && field.options.format === "email");
}

/** `Since 2026-01-01, gone on 2027-01-01.` */
export function deprecationReason(deprecated: Deprecation | undefined): string | null {
  if (!deprecated) return null;
  const removal = deprecated.sunset === undefined ? "" : `, gone on ${deprecated.sunset}`;
  return `Since ${deprecated.since}${removal}.`;
}
