// Input types: the bodies that make and change rows, filters and sorts.

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

/** What `createPost` takes; undefined where callers give nothing. */
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

/** What `updatePost` takes; undefined where nothing can be changed. */
export function updateInput(
  types: AttributeTypes,
  resource: ResourceModel,
): GraphQLInputObjectType | undefined {
  const updatable = resource.attributes.filter(({ isReadOnly, isImmutable }) => !isReadOnly && !isImmutable);
  return inputObject(
    `Update${pascalCase(resource.name)}Input`,
    // A default would reset what a caller leaves out.
    fieldsOf(updatable, (attribute) => {
      const { default: _, ...field } = inputField(types, resource, attribute, false);
      return field;
    }),
  );
}

/** What `rotateApiKey` takes beside the id; undefined where it takes nothing. */
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

/** Whether it can be left out. */
export function isOptionalInput({ attributes }: ActionModel): boolean {
  return !attributes.some(isRequired);
}

/** Equality with any of the values given, and ranges where the declaration allows them. */
export function filterInput(
  types: AttributeTypes,
  resource: ResourceModel,
): GraphQLInputObjectType | undefined {
  const fields = [...resource.filters.values()].flatMap(({ attribute, hasRange }) => {
    const type = types.of(resource, attribute);
    const any = [
      attribute.name,
      { type: new GraphQLList(new GraphQLNonNull(type)), description: "Any of these." },
    ] as const;
    const ends = hasRange
      ? rangeOperators.map((operator) => [rangeName(attribute, operator), { type }] as const)
      : [];
    return [any, ...ends];
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
  make: (attribute: Attribute) => GraphQLInputFieldConfig,
): InputFields {
  return Object.fromEntries(attributes.map((attribute) => [attribute.name, make(attribute)]));
}

function inputField(
  types: AttributeTypes,
  resource: Pick<ResourceModel, "name">,
  attribute: Attribute,
  isNeeded: boolean,
): GraphQLInputFieldConfig {
  const type = types.of(resource, attribute);
  return {
    type: isNeeded ? new GraphQLNonNull(type) : type,
    description: attribute.field.options.description ?? null,
    deprecationReason: isNeeded ? null : deprecationReason(attribute.deprecated),
  };
}

function isRequired({ isNullable, field }: Attribute): boolean {
  return !isNullable && !("default" in field.options);
}
