// The description of an API as TypeScript, from which a client gets its types (client/api.ts). It imports nothing, so that
// it can be copied to another repository.

import type { ItemShape } from "../declare/field.ts";
import { camelCase } from "../lib/case.ts";
import type {
  Attribute,
  AttributeShape,
  FilterModel,
  Model,
  RequestShape,
  ResourceModel,
} from "../model/model.ts";
import type { RouteModel } from "../model/route.ts";

/** Members that hooks of the server add to the response of a create, with their types (`returnsOnce`). */
const shownOnce: Readonly<Record<string, string>> = {
  apiKey: "{ key: string; warning: string }",
  oauthClient: "{ clientSecret?: string; warning?: string }",
  webhookEndpoint: "{ secret: string; warning: string }",
};

/** `export interface Api { ... }` for `createClient<Api>`. */
export function printApiTypes(model: Model): string {
  const version = JSON.stringify(model.version);
  const members = [
    `readonly version: ${version};`,
    `readonly resources: ${printResourceTypes(model)};`,
    `readonly routes: ${object(model.routes.map((route) => [route.name, printRoute(route)]))};`,
  ];
  return `export interface Api {\n${indented(members.join("\n"))}\n}\n`;
}

/** The resources that the current version of a model exposes as the text of a type, by their plurals. */
export function printResourceTypes({ resources, operations, version }: Model): string {
  const inVersion = operations.filter(({ prefixes }) => prefixes.includes(`/${version}`));
  const names = new Set(inVersion.map(({ resource }) => resource?.name));
  const exposed = resources.filter(({ isExposed, name }) => isExposed && names.has(name));
  return object(exposed.map((resource) => [resource.plural, printResource(resource, exposed)]));
}

function printResource(resource: ResourceModel, exposed: readonly ResourceModel[]): string {
  const { attributes, counts, references, links, sorts, search, paging, operations, parent } = resource;
  const row = object(
    attributes.filter(({ isInternal }) => !isInternal).map((each) => [each.name, shownType(each)]),
  );
  const once = shownOnce[resource.name] ?? "unknown";
  const input = inputOf(attributes);
  const plurals = (found: readonly ({ name: string; target: ResourceModel } | undefined)[]): string =>
    object(
      found.flatMap((each) =>
        each && exposed.includes(each.target) ? [[each.name, JSON.stringify(each.target.plural)]] : [],
      ),
    );
  return object([
    ["name", JSON.stringify(resource.name)],
    ["row", row],
    [
      "selectable",
      object([
        ...[...counts.keys()].map((name): [string, string] => [name, "number"]),
        ...(resource.isSoftDeleted ? [["deletedAt", "string"] as const] : []),
      ]),
    ],
    ["references", plurals(references.filter(({ isInternal }) => !isInternal).map((each) => each.reference))],
    ["links", plurals(links.filter(({ isInternal }) => !isInternal).map((each) => each.links))],
    ["create", input],
    ["update", `Partial<${input}>`],
    ["once", once],
    [
      "filters",
      object(
        [...resource.filters.values()].map((each) => [`${quoted(each.name)}?`, filterType(each)]),
        true,
      ),
    ],
    ["sort", union([...sorts.keys()])],
    ["paging", JSON.stringify(paging)],
    ["search", String(search.length > 0)],
    ["softDelete", String(resource.isSoftDeleted)],
    ["operations", union([...operations])],
    ["parent", parent ? JSON.stringify(parent.reference!.target.plural) : "never"],
    [
      "nestedUnder",
      union(
        resource.nestedUnder.map((each) => (each === "tenant" ? "tenants" : each.reference!.target.plural)),
      ),
    ],
    [
      "actions",
      object(
        [...resource.actions].map(([segment, action]) => [
          camelCase(segment),
          object([
            ["input", inputOf(action.attributes)],
            ["output", once === "unknown" || action.isRestoration ? row : `${row} & ${once}`],
          ]),
        ]),
      ),
    ],
    [
      "collectionActions",
      object(
        [...resource.collectionActions].map(([segment, action]) => [
          camelCase(segment),
          object([
            ["input", inputOf(action.attributes)],
            ["output", shown(action.answer)],
          ]),
        ]),
      ),
    ],
  ]);
}

function printRoute({ parameters, query, input, answer }: RouteModel): string {
  return object([
    ["parameters", shown(parameters)],
    ["query", inputOf(query.attributes)],
    ["input", inputOf(input.attributes)],
    ["answer", answer ? shown(answer) : "undefined"],
  ]);
}

function shown({ attributes }: RequestShape): string {
  return object(attributes.map((each) => [each.name, shownType(each)]));
}

/** The input of a write. Fields that are optional or have a default may be left out. */
function inputOf(attributes: readonly Attribute[]): string {
  const members = attributes
    .filter(({ isReadOnly, isInternal }) => !isReadOnly && !isInternal)
    .map((attribute): [string, string] => {
      const mayBeMissing = attribute.isOptional || "default" in attribute.field.options;
      const type =
        attribute.field.kind === "file" ? nullable(attribute, "string | Blob") : shownType(attribute);
      return [mayBeMissing ? `${quoted(attribute.name)}?` : quoted(attribute.name), type];
    });
  return object(members, true).replaceAll(/^( *)readonly /gm, "$1");
}

function shownType(attribute: Attribute): string {
  return nullable(attribute, valueType(attribute.field));
}

function nullable({ isOptional }: Attribute, type: string): string {
  return isOptional && type !== "unknown" ? `${type} | null` : type;
}

function valueType(field: AttributeShape | ItemShape): string {
  switch (field.kind) {
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "choice":
    case "computedStatus":
      return union(field.choices);
    case "json":
      return "unknown";
    case "list": {
      const item = valueType(field.item);
      return `readonly ${item.includes("|") ? `(${item})` : item}[]`;
    }
    case "manyToMany":
      return "readonly string[]";
    case "file":
      return "{ readonly id: string; readonly name: string; readonly type: string; readonly size: number; readonly url: string }";
    default:
      return "string";
  }
}

function filterType({ attribute, operators }: FilterModel): string {
  const value = valueType((attribute.element ?? attribute).field);
  const several = `readonly ${value.includes("|") ? `(${value})` : value}[]`;
  const types: Readonly<Record<string, string>> = {
    in: several,
    ne: `${value} | ${several}`,
    isNull: "boolean",
    ...{ gte: value, gt: value, lte: value, lt: value },
    ...{ contains: "string", startsWith: "string" },
  };
  const members = Object.entries(types)
    .filter(([name]) => operators.has(name as never))
    .map(([name, type]) => `readonly ${name}?: ${type} | undefined`);
  const plain = operators.has("eq") ? `${value} | ${several} | null | ` : "";
  return `${plain}{ ${members.join("; ")} } | undefined`;
}

function union(words: readonly string[]): string {
  return words.length === 0 ? "never" : words.map((word) => JSON.stringify(word)).join(" | ");
}

function quoted(name: string): string {
  return /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name);
}

/** @param isQuoted whether the names are as TypeScript writes them */
function object(members: readonly (readonly [name: string, type: string])[], isQuoted = false): string {
  if (members.length === 0) return "object";
  const lines = members.map(([name, type]) => `readonly ${isQuoted ? name : quoted(name)}: ${type};`);
  return `{\n${indented(lines.join("\n"))}\n}`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
