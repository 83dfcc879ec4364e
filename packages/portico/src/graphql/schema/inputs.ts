// Input types: the inputs of mutations, filters and sorts.

import {
  GraphQLEnumType,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from "graphql";
import type { ActionModel, Attribute, ResourceModel } from "../../model/model.ts";
import { type AttributeTypes, deprecationReason } from "./attribute-type.ts";
import { pascalCase, upperCase } from "./naming.ts";

type InputFields = Record<string, GraphQLInputFieldConfig>;

/** The input of `createPost`; undefined if the resource has no writable fields. */
export function createInput(
  types: AttributeTypes,
  resource: ResourceModel,
): GraphQLInputObjectType | undefined {
  const { parent } = resource;
  const writable = resource.attributes.filter((attribute) => !attribute.isReadOnly);
  return inputObject(`Create${pascalCase(resource.name)}Input`, {
    ...(parent && { [parent.name]: inputField(types, resource, parent, true) }),
    ...fieldsOf(writable, (attribute) => inputField(types, resource, attribute, isRequired(attribute))),
  });
}

/** The input of `updatePost`; undefined if no field can be updated. */
export function updateInput(
  types: AttributeTypes,
  resource: ResourceModel,
): GraphQLInputObjectType | undefined {
  const updatable = resource.attributes.filter(({ isReadOnly, isImmutable }) => !isReadOnly && !isImmutable);
  return inputObject(
    `Update${pascalCase(resource.name)}Input`,
    // A default would reset fields that the caller omits.
    fieldsOf(updatable, (attribute) => {
      const { default: _, ...field } = inputField(types, resource, attribute, false);
      return field;
    }),
  );
}

/** The input of `rotateApiKey`; undefined if the action has none. */
export function actionInput(
  types: AttributeTypes,
  mutation: string,
  { attributes }: ActionModel,
): GraphQLInputObjectType | undefined {
  const owner = { name: mutation };
  return inputObject(
    `${pascalCase(mutation)}Input`,
    fieldsOf(attributes, (attribute) => inputField(types, owner, attribute, isRequired(attribute))),
  );
}

/** Whether the input of an action can be omitted. */
export function isOptionalInput({ attributes }: ActionModel): boolean {
  return !attributes.some(isRequired);
}

/** The filter of a connection: accepted values for each field, and ranges where they are declared. */
export function filterInput(
  types: AttributeTypes,
  resource: ResourceModel,
): GraphQLInputObjectType | undefined {
  const fields = [...resource.filters.values()].flatMap(({ attribute, hasRange }) => {
    const type = types.of(resource, attribute);
    const values = [
      attribute.name,
      { type: new GraphQLList(new GraphQLNonNull(type)), description: "Matches any of these values." },
    ] as const;
    const ranges = hasRange
      ? rangeOperators.map((operator) => [rangeName(attribute, operator), { type }] as const)
      : [];
    return [values, ...ranges];
  });
  return inputObject(`${pascalCase(resource.name)}Filter`, Object.fromEntries(fields));
}

export const rangeOperators = ["gte", "gt", "lte", "lt"] as const;

/** `createdAt` and `gte` -> `createdAtGte` */
export function rangeName({ name }: Attribute, operator: (typeof rangeOperators)[number]): string {
  return name + pascalCase(operator);
}

/** `CREATED_AT_DESC`; the value of each is a `Sort`. */
export function sortEnum(resource: ResourceModel): GraphQLEnumType {
  const values = [...resource.sorts.values()].flatMap((attribute) =>
    [true, false].map((isDescending) => {
      const name = `${upperCase(attribute.name)}_${isDescending ? "DESC" : "ASC"}`;
      return [name, { value: { attribute, isDescending } }] as const;
    }),
  );
  return new GraphQLEnumType({
    name: `${pascalCase(resource.name)}Sort`,
    values: Object.fromEntries(values),
  });
}

function inputObject(name: string, fields: InputFields): GraphQLInputObjectType | undefined {
  return Object.keys(fields).length === 0 ? undefined : new GraphQLInputObjectType({ name, fields });
}

function fieldsOf(
  attributes: readonly Attribute[],
  fieldOf: (attribute: Attribute) => GraphQLInputFieldConfig,
): InputFields {
  return Object.fromEntries(attributes.map((attribute) => [attribute.name, fieldOf(attribute)]));
}

function inputField(
  types: AttributeTypes,
  resource: Pick<ResourceModel, "name">,
  attribute: Attribute,
  isNonNull: boolean,
): GraphQLInputFieldConfig {
  const type = types.of(resource, attribute);
  return {
    type: isNonNull ? new GraphQLNonNull(type) : type,
    description: attribute.field.options.description ?? null,
    deprecationReason: isNonNull ? null : deprecationReason(attribute.deprecated),
  };
}

function isRequired({ isOptional, field }: Attribute): boolean {
  return !isOptional && !("default" in field.options);
}
