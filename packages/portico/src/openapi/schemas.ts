// The schemas of bodies, as descriptions have them. Those of resources, and those with a title, are components.

import { capitalize } from "../lib/case.ts";
import { ajvKeywords, type JsonSchema, listSchema, rowSchema } from "../model/json-schema.ts";
import type { ResourceModel } from "../model/model.ts";
import { deletedAtName, deletedParameter } from "../model/operation-parameters.ts";
import type { ModuleOperation, Operation } from "../model/operations.ts";
import type { Components } from "./components.ts";
import type { Reference } from "./description.ts";
import { schemaName } from "./names.ts";

/** A schema without what only validation of requests needs. Its parts with a title become components. */
export function described(schema: JsonSchema, components: Components): JsonSchema {
  const { title, ...copy } = Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword, value]) => !ajvKeywords.has(keyword) && value !== undefined)
      .map(([keyword, value]) => [keyword, describedPart(keyword, value, components)]),
  );
  if (Array.isArray(copy.required) && copy.required.length === 0) delete copy.required;
  if (typeof title !== "string") return copy;
  return componentName.test(title) ? { ...components.add("schemas", title, copy) } : { title, ...copy };
}

/** Titles in schemas that projects declare are for people. */
const componentName = /^[A-Z][A-Za-z0-9]*$/;

/** Keywords whose values are schemas by names. */
const namedSchemas = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose values are not schemas, whatever they look like. */
const plainValues = new Set(["default", "const", "enum", "examples", "required", "type"]);

function describedPart(keyword: string, value: unknown, components: Components): unknown {
  if (plainValues.has(keyword) || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => describedPart("", each, components));
  if (!namedSchemas.has(keyword)) return described(value as JsonSchema, components);
  const parts = Object.entries(value as Readonly<Record<string, JsonSchema | boolean>>);
  return Object.fromEntries(parts.map(([name, part]) => [name, describedPart("", part, components)]));
}

/** The schema of a row in responses. */
export function rowReference(resource: ResourceModel, components: Components): Reference {
  return reference(schemaName(resource), openRow(resource), components);
}

/** Responses may have more members in later versions. */
function openRow(resource: ResourceModel, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  const { additionalProperties: _, ...schema } = rowSchema(resource);
  const { description } = resource;
  const properties = {
    ...(schema.properties as object),
    ...selectedMembers(resource),
    ...(resource.isSoftDeleted && { [deletedAtName]: deletionTime }),
    ...more,
  };
  return { ...(description !== undefined && { description }), ...schema, properties };
}

const deletionTime: JsonSchema = {
  type: "string",
  format: "date-time",
  description: `When the row was deleted. Only rows that a request with \`${deletedParameter}=true\` returns have it.`,
};

/** The members that a row has only if the parameter `fields` names them. */
function selectedMembers({ counts, references, links }: ResourceModel): Readonly<Record<string, JsonSchema>> {
  const note = (name: string): string => `Only if \`fields\` names it, as in \`fields=${name}\`.`;
  return Object.fromEntries([
    ...[...counts.values()].map(({ name, description = "", deprecated }) => [
      name,
      {
        type: "integer",
        description: `${description} ${note(name)}`.trim(),
        ...(deprecated && { deprecated: true }),
      },
    ]),
    ...references
      .filter(({ isInternal }) => !isInternal)
      .map(({ reference: to }) => [
        to!.name,
        { type: ["object", "null"], description: note(`${to!.name}.id`) },
      ]),
    ...links
      .filter(({ isInternal }) => !isInternal)
      .map(({ links: to }) => [
        to!.name,
        { type: "array", items: { type: "object" }, description: note(`${to!.name}.id`) },
      ]),
  ]);
}

/** The schema of the JSON that an operation returns. */
export function outputSchema(operation: Operation | ModuleOperation, components: Components): JsonSchema {
  const { kind, id, output } = operation;
  // Only operations with JSON in their responses are asked for its schema.
  if (kind === "module" || kind === "report" || kind === "collectionAction")
    return named(`${capitalize(id)}Response`, output!, components);
  const { resource } = operation;
  const row = rowReference(resource, components);
  if (kind === "list") return pageReference(resource, row, components);
  const returnsOnce = kind === "create" || kind === "action";
  return returnsOnce ? rowWithSecrets(resource, row, components) : { ...row };
}

function pageReference(resource: ResourceModel, items: Reference, components: Components): JsonSchema {
  const page = listSchema(resource);
  const { pagination } = page.properties as Readonly<Record<string, JsonSchema>>;
  const name = resource.paging === "page" ? "NumberedPagination" : "Pagination";
  const properties = {
    data: { type: "array", items },
    pagination: reference(name, pagination!, components),
  };
  return { ...reference(`${schemaName(resource)}List`, { ...page, properties }, components) };
}

/** A row with the members that only the response of the write has. */
function rowWithSecrets(resource: ResourceModel, row: Reference, components: Components): JsonSchema {
  const members = Object.entries(resource.returnsOnce);
  if (members.length === 0) return { ...row };
  const texts = members.map(([name, description]) => [name, { type: "string", description }]);
  const schema = openRow(resource, Object.fromEntries(texts));
  return { ...reference(`${schemaName(resource)}Created`, schema, components) };
}

const bodyNames: Readonly<Partial<Record<Operation["kind"], string>>> = {
  create: "Create",
  replace: "Replace",
  update: "Update",
};

/** The schema of the JSON body of an operation that has one. */
export function inputSchema(operation: Operation | ModuleOperation, components: Components): JsonSchema {
  return named(inputName(operation), operation.input!, components);
}

/** The schema of the same body as a form, whose parts are files for fields with files. */
export function formSchema(operation: Operation, components: Components): JsonSchema {
  const { input, resource } = operation;
  const files = resource.files.map(({ name }) => [
    name,
    { type: "string", format: "binary", description: "The file." },
  ]);
  const properties = Object.fromEntries(
    Object.entries(input!.properties as Readonly<Record<string, JsonSchema>>).map(([name, schema]) => [
      name,
      Object.fromEntries(files)[name] ?? schema,
    ]),
  );
  return named(`${inputName(operation)}Form`, { ...input, properties }, components);
}

function inputName(operation: Operation | ModuleOperation): string {
  const { kind, id } = operation;
  const suffix = kind === "module" ? undefined : bodyNames[kind];
  return suffix === undefined || kind === "module"
    ? `${capitalize(id)}Request`
    : `${schemaName(operation.resource)}${suffix}`;
}

function named(name: string, schema: JsonSchema, components: Components): JsonSchema {
  return described({ ...schema, title: schema.title ?? name }, components);
}

function reference(name: string, schema: JsonSchema, components: Components): Reference {
  return components.add("schemas", name, described(schema, components));
}
