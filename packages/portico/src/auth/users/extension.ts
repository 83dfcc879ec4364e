// Fields that an app adds to users: `users.extend({ fields })`. The extended resource stands among the resources of the
// app, and is served in place of the built-in one.

import type { FieldShape } from "../../declare/field.ts";
import type { LooseFilter } from "../../declare/filter.ts";
import type { Fields, RecordOf } from "../../declare/record.ts";
import { type LooseDeclaration, type Resource, resource } from "../../declare/resource.ts";
import { OperatorError } from "../../errors.ts";
import type { userFields } from "./fields.ts";

/** The built-in resource for users, with fields of an app. */
export type ExtendedUsers<F extends Fields> = Resource<"user", ReturnType<typeof userFields> & F, undefined>;

/** What an app adds to users. The options are those of a resource, for its own fields and those that users have. */
export interface UserExtension<F extends Fields> {
  /** Users are created without them, so each must be optional or have a default. */
  readonly fields: F;
  /** The fields that people may change themselves, at `/v1/me`, besides their name and address. */
  readonly selfEditable?: readonly Extract<keyof RecordOf<ExtendedUsers<F>>, string>[];
  readonly filter?: readonly LooseFilter[];
  readonly sort?: readonly Extract<keyof RecordOf<ExtendedUsers<F>>, string>[];
  readonly search?: readonly (keyof F & string)[];
  readonly unique?: LooseDeclaration["unique"];
  readonly indexes?: LooseDeclaration["indexes"];
}

type LooseExtension = Omit<UserExtension<Fields>, "selfEditable" | "sort"> & {
  readonly selfEditable?: readonly string[];
  readonly sort?: readonly string[];
};

const options = ["fields", "selfEditable", "filter", "sort", "search", "unique", "indexes"];

const extensions = new WeakMap<Resource, LooseExtension>();

/**
 * Adds fields to users.
 *
 * @returns the resource to list in `resources` of the app
 * @throws OperatorError for an unknown option, a name that users already have, or a required field without a default
 * @example
 * const people = users.extend({
 *   fields: { phone: text({ max: 30, optional: true }), plan: choice(["free", "paid"], { default: "free" }) },
 *   filter: ["plan"],
 *   selfEditable: ["phone"],
 * });
 * export default app({ name: "Tracker", resources: [people, projects] });
 */
export function extendUsers<F extends Fields>(
  users: Resource,
  extension: UserExtension<F>,
): ExtendedUsers<F> {
  // The types were checked at this call.
  const loose = extension as unknown as LooseExtension;
  validateOptions(loose);
  const extended = withExtension(users, loose);
  extensions.set(extended, loose);
  return extended as unknown as ExtendedUsers<F>;
}

/** The users of an app, with the fields that it adds. */
export function withExtension(users: Resource, extension: LooseExtension | undefined): Resource {
  if (extension === undefined) return users;
  const { declaration } = users;
  const taken = Object.keys(extension.fields).find((name) => Object.hasOwn(declaration.fields, name));
  if (taken !== undefined)
    throw new OperatorError(`users.extend, field ${taken}: users have this field; rename it`);
  const { filter = [], sort = [], search = [] } = declaration;
  const extended: LooseDeclaration = {
    ...declaration,
    fields: { ...declaration.fields, ...extension.fields },
    filter: [...filter, ...(extension.filter ?? [])],
    sort: [...sort, ...(extension.sort ?? [])],
    search: [...search, ...(extension.search ?? [])],
    ...(extension.unique && { unique: extension.unique }),
    ...(extension.indexes && { indexes: extension.indexes }),
  };
  return resource(users.name, extended as Parameters<typeof resource>[1]);
}

/**
 * What an app adds to users; undefined if it adds nothing.
 * @throws OperatorError for several extensions, and for one that is referred to but not listed
 */
export function userExtensionOf(resources: readonly Resource[]): LooseExtension | undefined {
  const listed = resources.filter((each) => extensions.has(each));
  if (listed.length > 1) throw new OperatorError("app: lists users.extend(...) twice; extend users once");
  for (const { name, declaration } of resources)
    for (const [field, shape] of Object.entries(declaration.fields))
      if (refersToUnlisted(shape, listed))
        throw new OperatorError(
          `resource ${name}, field ${field}: refers to extended users, which the app does not list; add them to resources`,
        );
  return listed[0] && extensions.get(listed[0]);
}

/** The resources of an app without the extended users, which the server serves as its own. */
export function withoutExtension(resources: readonly Resource[]): readonly Resource[] {
  return resources.filter((each) => !extensions.has(each));
}

function refersToUnlisted(shape: FieldShape, listed: readonly Resource[]): boolean {
  if (shape.kind !== "belongsTo") return false;
  const target: Resource | undefined = shape.target();
  return target !== undefined && extensions.has(target) && !listed.includes(target);
}

function validateOptions(extension: LooseExtension): void {
  const unknown = Object.keys(extension).find((option) => !options.includes(option));
  if (unknown !== undefined)
    throw new OperatorError(`users.extend: unknown option ${unknown}; use some of ${options.join(", ")}`);
  if (typeof extension.fields !== "object" || extension.fields === null)
    throw new OperatorError(
      "users.extend: fields is missing; write fields: { phone: text({ optional: true }) }",
    );
  for (const [name, shape] of Object.entries(extension.fields)) {
    const { optional, default: standard } = shape.options as { optional?: boolean; default?: unknown };
    const needsNothing = optional === true || shape.kind === "computedStatus" || shape.kind === "count";
    if (!needsNothing && (standard === undefined || standard === "caller"))
      throw new OperatorError(
        `users.extend, field ${name}: people sign up and commands create users without it; make it optional, or give it a default`,
      );
  }
  const names = new Set(
    Object.entries(extension.fields).map(([name, { kind }]) => (kind === "belongsTo" ? `${name}Id` : name)),
  );
  const { selfEditable = [] } = extension;
  if (!Array.isArray(selfEditable))
    throw new OperatorError('users.extend: selfEditable is a list of fields, ["phone"]');
  const wrong = selfEditable.find((name) => !names.has(name));
  if (wrong !== undefined)
    throw new OperatorError(
      `users.extend: selfEditable names ${String(wrong)}, which is none of its fields; use some of ${[...names].join(", ")}`,
    );
  const readOnly = Object.entries(extension.fields).find(
    ([name, { options: each }]) =>
      selfEditable.includes(name) && (each.readOnly || each.internal || each.immutable),
  );
  if (readOnly !== undefined)
    throw new OperatorError(
      `users.extend, field ${readOnly[0]}: nobody can change it; remove it from selfEditable`,
    );
}
