// What an app declares, as texts that can be compared and shown: each field, filter, index, action and route is a part.

import { hash } from "node:crypto";
import type { App } from "../../declare/app.ts";
import type { FieldShape } from "../../declare/field.ts";
import type { Resource } from "../../declare/resource.ts";

export interface Part {
  /** For people; functions are left out. */
  readonly text: string;
  /** Differs if anything of the part does, functions included. */
  readonly digest: string;
}

/** Parts by owner and name: `resource post` has `field title`. The part without a name is the owner itself. */
export type DeclaredParts = Readonly<Record<string, Readonly<Record<string, Part>>>>;

/** Options of a resource that list names, with what each item is called. */
const lists = {
  filter: "filter",
  sort: "sort",
  search: "search",
  unique: "unique",
  indexes: "index",
  public: "public",
  nestedUnder: "nested under",
} as const;

const maxTextLength = 120;

export function declaredParts(app: App): DeclaredParts {
  const { resources, routes, roles, on, schedules, seed, settings, ...others } = app;
  return {
    app: partsOf({ ...others, seed, settings, roles: undefined }, ""),
    ...Object.fromEntries(resources.map((each) => [`resource ${each.name}`, partsOfResource(each)])),
    ...Object.fromEntries(
      routes.map(({ path, declaration, handler }) => [
        `route ${path}`,
        { "": partOf(undefined), ...partsOf({ ...declaration, handler }, "") },
      ]),
    ),
    ...owners("role", roles),
    ...owners("handler of", on),
    ...owners("schedule", schedules),
  };
}

function owners(title: string, all: object | undefined): DeclaredParts {
  return Object.fromEntries(
    Object.entries(all ?? {}).map(([name, value]) => [`${title} ${name}`, { "": partOf(value) }]),
  );
}

function partsOfResource({ declaration }: Resource): Readonly<Record<string, Part>> {
  const { fields, actions, hooks, filter, sort, search, unique, indexes, ...others } = declaration;
  const { public: open, nestedUnder, ...options } = others;
  const listed = { filter, sort, search, unique, indexes, public: open, nestedUnder };
  const parts: Record<string, Part> = { "": partOf(undefined) };
  for (const [name, field] of Object.entries(fields)) parts[`field ${name}`] = partOfField(field);
  for (const [option, title] of Object.entries(lists))
    for (const item of listed[option as keyof typeof lists] ?? [])
      parts[`${title} ${itemText(item)}`] = partOf(undefined);
  return { ...parts, ...partsOf(actions, "action "), ...partsOf(hooks, "hook "), ...partsOf(options, "") };
}

function partsOf(options: object | undefined, prefix: string): Readonly<Record<string, Part>> {
  return Object.fromEntries(
    Object.entries(options ?? {})
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [prefix + name, partOf(value)]),
  );
}

/** `title`, `createdAt (range)`, `ownerId, name` */
function itemText(item: unknown): string {
  if (typeof item !== "object" || item === null) return String(item);
  if (Array.isArray(item)) return item.join(", ");
  return Object.entries(item)
    .map(([helper, name]) => `${name} (${helper})`)
    .join();
}

/** `text, max: 200, optional: true` */
function partOfField(field: FieldShape): Part {
  const { kind, options, ...rest } = field;
  const target = "target" in field ? ` ${nameOf(field.target)}` : "";
  const { text, digest } = partOf({ ...rest, ...options });
  const shown = text === "" ? "" : `, ${text}`;
  return { text: `${kind}${target}${shown}`, digest: digestOf([kind, target, digest]) };
}

/** A target that cannot be read is reported when the model is built. */
function nameOf(target: () => { readonly name: string }): string {
  try {
    return target().name;
  } catch {
    return "?";
  }
}

function partOf(value: unknown): Part {
  const text = JSON.stringify(value, (_, each) => shownValue(each)) ?? "";
  const plain = text
    .replace(/^\{(.*)\}$/s, "$1")
    .replaceAll(/"(\w+)":/g, "$1: ")
    .replaceAll(",", ", ");
  const shown = plain.length > maxTextLength ? `${plain.slice(0, maxTextLength)}…` : plain;
  return { text: shown, digest: digestOf(value) };
}

/** Leaves functions and other resources out. */
function shownValue(value: unknown): unknown {
  if (value instanceof RegExp) return value.source;
  if (typeof value === "bigint") return String(value);
  return isResource(value) ? value.name : value;
}

function digestOf(value: unknown): string {
  const text = JSON.stringify(value, (_, each) => {
    if (typeof each === "function") return String(each);
    return shownValue(each);
  });
  return hash("sha256", text ?? "", "base64").slice(0, 16);
}

function isResource(value: unknown): value is Resource {
  return typeof value === "object" && value !== null && "declaration" in value && "name" in value;
}

/** The differences between two apps, a line each: `resource post, field title: added, text`. */
export function changedParts(before: DeclaredParts, after: DeclaredParts): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((owner) => {
    const [old, now] = [before[owner], after[owner]];
    if (!old) return [`${owner}: added`];
    if (!now) return [`${owner}: removed`];
    return changesOf(owner, old, now);
  });
}

function changesOf(
  owner: string,
  before: Readonly<Record<string, Part>>,
  after: Readonly<Record<string, Part>>,
): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const [old, now] = [before[name], after[name]];
    const subject = name === "" ? owner : `${owner}, ${name}`;
    if (!old) return [`${subject}: added${now!.text === "" ? "" : `, ${now!.text}`}`];
    if (!now) return [`${subject}: removed`];
    if (old.digest === now.digest) return [];
    return [
      old.text === now.text
        ? `${subject}: changed`
        : `${subject}: ${old.text || "none"} -> ${now.text || "none"}`,
    ];
  });
}
