// Schemas as HTML: the members of objects, with their types and rules.

import { type Html, html } from "../lib/html.ts";
import type { JsonSchema } from "../model/json-schema.ts";
import type { Reference } from "../openapi/description.ts";
import { type Contents, schemaAnchor, schemaNameOf } from "./contents.ts";
import { blocks } from "./markdown.ts";

/** What links in pages need. */
export interface Linked {
  readonly contents: Contents;
  /** The path of the pages, as callers know it: `/docs` */
  readonly path: string;
}

/** Objects in objects are shown to this depth; deeper ones are named by their type. */
const maxDepth = 4;
/** Values of a choice that are shown. */
const maxChoices = 50;

/** A schema with a name, as a part of a page. @param isPart whether it is below a heading of the page */
export function schemaView(name: string, linked: Linked, isPart: boolean): Html {
  const schema = linked.contents.description.components.schemas[name]!;
  const { description } = schema;
  const anchor = schemaAnchor(name);
  const link = html`<a class="anchor" href="#${anchor}">${name}</a>`;
  return html`<section class="schema" aria-labelledby="${anchor}">
${isPart ? html`<h3 id="${anchor}" tabindex="-1">${link}</h3>` : html`<h2 id="${anchor}" tabindex="-1">${link}</h2>`}
${typeof description === "string" ? blocks(description) : undefined}${membersView(schema, linked, 0) ?? html`<p>${typeView(schema, linked)}</p>\n`}</section>
`;
}

/** The members of an object, or of the objects in a list; undefined if it has none to show. */
export function membersView(schema: JsonSchema, linked: Linked, depth = 0): Html | undefined {
  const alternatives = schema.oneOf ?? schema.anyOf ?? schema.allOf;
  if (Array.isArray(alternatives)) return alternativesView(schema, alternatives, linked, depth);
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>);
  if (properties.length === 0) return undefined;
  const required = new Set((schema.required ?? []) as readonly string[]);
  return html`<dl class="fields">
${properties.map(([name, property]) => memberView(name, property, required.has(name), linked, depth))}</dl>
`;
}

function alternativesView(
  schema: JsonSchema,
  alternatives: readonly JsonSchema[],
  linked: Linked,
  depth: number,
): Html {
  const title = schema.allOf ? "All of these" : "One of these";
  const items = alternatives.map(
    (each) => html`<li>${typeView(each, linked)}
${isReference(each) || depth >= maxDepth ? undefined : membersView(each, linked, depth + 1)}</li>
`,
  );
  return html`<p>${title}:</p>\n<ul class="alternatives">\n${items}</ul>\n`;
}

function memberView(
  name: string,
  schema: JsonSchema,
  isRequired: boolean,
  linked: Linked,
  depth: number,
): Html {
  const nested = schema.type === "array" ? ((schema.items ?? {}) as JsonSchema) : schema;
  const hasMembers = !isReference(nested) && depth < maxDepth;
  return fieldView(
    { name, schema, isRequired },
    linked,
    hasMembers ? membersView(nested, linked, depth + 1) : undefined,
  );
}

export interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  readonly isDeprecated?: boolean;
  readonly description?: string;
}

/** A member of an object, or a parameter. */
export function fieldView(
  { name, schema, isRequired, isDeprecated = schema.deprecated === true, description }: Field,
  linked: Linked,
  nested?: Html,
): Html {
  const text = description ?? schema.description;
  return html`<div class="field">
<dt><code>${name}</code> <span class="type">${typeView(schema, linked)}</span>${
    isRequired ? html` <span class="badge">required</span>` : undefined
  }${isDeprecated ? html` <span class="badge warning">deprecated</span>` : undefined}</dt>
<dd>${typeof text === "string" ? blocks(text) : undefined}${rulesView(schema)}${nested}</dd>
</div>
`;
}

/** The type of a value in a few words. */
export function typeView(schema: JsonSchema, linked: Linked): Html {
  if (isReference(schema)) {
    const name = schemaNameOf(schema);
    return html`<a href="${linked.path}${linked.contents.schemaPath(name)}">${name}</a>`;
  }
  const types = [(schema.type ?? []) as string | readonly string[]].flat();
  if (types.includes("array")) {
    const items = (schema.items ?? {}) as JsonSchema;
    return html`list of ${typeView(items, linked)}${types.includes("null") ? " or null" : undefined}`;
  }
  const format = typeof schema.format === "string" ? ` (${schema.format})` : "";
  const several = schema.oneOf ? "one of several types" : schema.allOf ? "all of several types" : "any value";
  return html`${types.length === 0 ? several : `${types.join(" or ")}${format}`}`;
}

/** What limits the values, besides the type. */
function rulesView(schema: JsonSchema): Html | undefined {
  const items = schema.type === "array" ? (schema.items as JsonSchema | undefined) : undefined;
  const choices = (schema.enum ?? items?.enum) as readonly unknown[] | undefined;
  const rules: Html[] = [
    ...rangeRules(schema),
    ...(typeof schema.pattern === "string" ? [html`Pattern: <code>${schema.pattern}</code>`] : []),
    ...(choices ? [html`Values: ${codeList(choices)}`] : []),
    ...(schema.const === undefined ? [] : [html`Always <code>${JSON.stringify(schema.const)}</code>`]),
    ...(schema.default === undefined ? [] : [html`Default: <code>${JSON.stringify(schema.default)}</code>`]),
  ];
  if (rules.length === 0) return undefined;
  return html`<p class="rules">${rules.map((rule, index) => html`${index === 0 ? undefined : " · "}${rule}`)}</p>\n`;
}

function codeList(values: readonly unknown[]): Html {
  const shown = values.slice(0, maxChoices);
  const codes = shown.map(
    (value, index) => html`${index === 0 ? undefined : ", "}<code>${String(value)}</code>`,
  );
  return html`${codes}${values.length > shown.length ? ` and ${values.length - shown.length} more` : undefined}`;
}

function rangeRules(schema: JsonSchema): Html[] {
  const isSafe = (value: unknown): boolean =>
    typeof value === "number" && Number.isSafeInteger(value) && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  const bound = (value: unknown): number | undefined => (isSafe(value) ? Number(value) : undefined);
  return [
    range(bound(schema.minLength), bound(schema.maxLength), "characters"),
    range(bound(schema.minItems), bound(schema.maxItems), "values"),
    range(bound(schema.minimum), bound(schema.maximum), ""),
    schema.uniqueItems === true ? "no value twice" : undefined,
  ].flatMap((rule) => (rule === undefined ? [] : [html`${rule}`]));
}

function range(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  const bounds =
    max === undefined ? `at least ${min}` : min === undefined ? `at most ${max}` : `${min} to ${max}`;
  return `${bounds} ${unit}`.trim();
}

function isReference(schema: JsonSchema): schema is JsonSchema & Reference {
  return typeof schema.$ref === "string";
}
