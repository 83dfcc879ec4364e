// Input types: the inputs of mutations, filters and sorts.

import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
} from "graphql";
import type {
  Attribute,
  CollectionActionModel,
  FilterOperator,
  ResourceModel,
  Shape,
} from "../../model/model.ts";
import { keyText, singleSort } from "../../query/sort.ts";
import { type FilterFields, filterFields, takesList } from "../fields/filter-arguments.ts";
import { type AttributeTypes, deprecationReason, isNullableOutput } from "./attribute-type.ts";
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
  { attributes }: Shape,
): GraphQLInputObjectType | undefined {
  const owner = { name: mutation };
  return inputObject(
    `${pascalCase(mutation)}Input`,
    fieldsOf(attributes, (attribute) => inputField(types, owner, attribute, isRequired(attribute))),
  );
}

/** The type of what an action on a collection returns: `CloseIssuesPayload` */
export function answerType(
  types: AttributeTypes,
  mutation: string,
  { answer }: CollectionActionModel,
): GraphQLObjectType {
  const name = `${pascalCase(mutation)}Payload`;
  const fieldOf = (attribute: Attribute) => {
    const type = types.of({ name }, attribute);
    return { type: isNullableOutput(attribute) ? type : new GraphQLNonNull(type) };
  };
  const fields = answer.attributes.map((attribute) => [attribute.name, fieldOf(attribute)]);
  return new GraphQLObjectType({ name, fields: Object.fromEntries(fields) });
}

/** Whether the input of an action can be omitted. */
export function isOptionalInput({ attributes }: Shape): boolean {
  return !attributes.some(isRequired);
}

/** The filter of a connection: fields with operators, related rows, and combinations of filters. */
export function filterInput(
  types: AttributeTypes,
  resource: ResourceModel,
): GraphQLInputObjectType | undefined {
  const { own, related } = filterFields(resource);
  if (own.size === 0 && related.size === 0) return undefined;
  const prefix = pascalCase(resource.name);
  const relatedFields = [...related].map(([name, { rows, fields }]) => {
    const typeName = `${prefix}${pascalCase(name)}`;
    const inner = inputObject(`${typeName}Filter`, operatorInputs(types, rows.resource, fields))!;
    const type =
      rows.kind === "is"
        ? inner
        : new GraphQLInputObjectType({
            name: `${typeName}Condition`,
            fields: { some: { type: inner }, none: { type: inner } },
          });
    return [name, { type }] as const;
  });
  const filter: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${prefix}Filter`,
    description: "All fields must match.",
    fields: () => ({
      ...operatorInputs(types, resource, own),
      ...Object.fromEntries(relatedFields),
      AND: { type: new GraphQLList(new GraphQLNonNull(filter)) },
      OR: { type: new GraphQLList(new GraphQLNonNull(filter)) },
      NOT: { type: filter },
    }),
  });
  return filter;
}

const operatorDescriptions: Partial<Record<FilterOperator, string>> = {
  eq: "Matches any of these values; null matches rows without a value.",
  ne: "Matches none of these values.",
};

function operatorInputs(
  types: AttributeTypes,
  resource: ResourceModel,
  fields: FilterFields["own"],
): InputFields {
  return Object.fromEntries(
    [...fields].map(([name, { filter, operator }]) => {
      const type = operator === "isNull" ? GraphQLBoolean : types.ofElement(resource, filter.attribute);
      return [
        name,
        {
          type: takesList(operator) ? new GraphQLList(new GraphQLNonNull(type)) : type,
          description: operatorDescriptions[operator] ?? null,
          deprecationReason: deprecationReason(filter.attribute.deprecated),
        },
      ];
    }),
  );
}

/** `CREATED_AT_DESC`; the value of each is a `Sort` by one key. */
export function sortEnum(resource: ResourceModel): GraphQLEnumType {
  const values = [...resource.sorts.values()].flatMap((attribute) =>
    [true, false].map((isDescending) => {
      const name = `${upperCase(attribute.name)}_${isDescending ? "DESC" : "ASC"}`;
      const value = singleSort(resource, keyText({ attribute, isDescending }));
      return [name, { value, deprecationReason: deprecationReason(attribute.deprecated) }] as const;
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
