// Parses a condition as declarations write it, `{ status: "open", members: { some: { userId } } }`, into the tree that the
// store compiles. It was returned by code, so nothing about it is known.

import type { Attribute, ResourceModel } from "../model/model.ts";
import { allOf, type Condition } from "./condition.ts";
import { describeValue, isPlainObject } from "./plain-object.ts";
import type { Position, WhereOptions } from "./where-context.ts";
import { FieldParser } from "./where-field.ts";

/** Conditions that lead from one to the next: combinations and related rows inside each other. */
const maxDepth = 8;

/**
 * The conditions that a row must all meet. No row meets a condition that depends on a value that is undefined or null: a
 * policy that compares with the user of a caller must not show rows without a user to callers without one.
 * @throws whatever `refuse` throws
 */
export function parseWhere(
  resource: ResourceModel,
  where: unknown,
  options: WhereOptions,
): readonly Condition[] {
  return new WhereParser(options).parse(resource, where, { depth: 1, isNegated: false });
}

class WhereParser extends FieldParser {
  parse(resource: ResourceModel, where: unknown, position: Position): Condition[] {
    if (where === undefined) return [this.#undefinedIn(resource, undefined, position)];
    if (!isPlainObject(where))
      this.refuse(
        resource,
        undefined,
        `has ${describeValue(where)} where a condition belongs; write { field: value }`,
      );
    if (position.depth > maxDepth)
      this.refuse(resource, undefined, `is nested more than ${maxDepth} levels deep; simplify it`);
    const conditions: Condition[] = [];
    for (const name in where)
      if (Object.hasOwn(where, name)) conditions.push(...this.#member(resource, name, where[name], position));
    return conditions;
  }

  #member(resource: ResourceModel, name: string, value: unknown, position: Position): readonly Condition[] {
    const attribute = resource.attribute.get(name);
    if (attribute) return this.field(resource, attribute, value, position);
    if (name === "AND" || name === "OR" || name === "NOT")
      return this.#combination(resource, name, value, position);
    const reference = resource.references.find((each) => each.reference!.name === name);
    if (reference) return [this.#reference(resource, reference, value, position)];
    const collection = resource.collections.get(name);
    if (collection) return this.#collection(resource, name, collection, value, position);
    const link = resource.links.find((each) => each.links!.name === name);
    if (link) {
      this.requireNotInternal(resource, name, link.isInternal);
      const rows = { resource: link.links!.target, reference: link };
      return this.#collection(resource, name, rows, value, position);
    }
    const { attributes, references, links, collections } = resource;
    const known = [
      ...attributes.filter(({ isInternal }) => !isInternal).map((each) => each.name),
      ...references.filter(({ isInternal }) => !isInternal).map((each) => each.reference!.name),
      ...links.filter(({ isInternal }) => !isInternal).map((each) => each.links!.name),
      ...collections.keys(),
    ];
    return this.refuse(
      resource,
      name,
      `names it, but there is no such field; use one of ${known.join(", ")}`,
    );
  }

  #combination(
    resource: ResourceModel,
    name: "AND" | "OR" | "NOT",
    value: unknown,
    position: Position,
  ): readonly Condition[] {
    const inner = { ...position, depth: position.depth + 1 };
    if (value === undefined) return [this.#undefinedIn(resource, name, position)];
    if (name === "NOT") {
      const conditions = this.parse(resource, value, { ...inner, isNegated: !position.isNegated });
      return [{ operator: "not", conditions }];
    }
    if (!Array.isArray(value))
      this.refuse(resource, name, `has ${describeValue(value)} as ${name}; write a list of conditions`);
    if (value.length > this.maxComparisons) this.refuseTooMany(resource);
    const all = Array.from(value, (each) => this.parse(resource, each, inner));
    return name === "AND" ? all.flat() : [{ operator: "or", conditions: all.map(allOf) }];
  }

  #reference(resource: ResourceModel, attribute: Attribute, value: unknown, position: Position): Condition {
    const { name, target } = attribute.reference!;
    this.requireNotInternal(resource, name, attribute.isInternal);
    if (value === null || typeof value === "string")
      this.refuse(
        resource,
        name,
        `compares it with ${describeValue(value)}; compare ${attribute.name}, or write ${name}: { field: value }`,
      );
    this.count(resource);
    if (value === undefined) return this.#undefinedIn(resource, name, position);
    const conditions = this.parse(target, value, { ...position, depth: position.depth + 1 });
    return { attribute, operator: "is", conditions };
  }

  #collection(
    resource: ResourceModel,
    name: string,
    { resource: referring, reference }: { readonly resource: ResourceModel; readonly reference: Attribute },
    value: unknown,
    position: Position,
  ): readonly Condition[] {
    if (value === undefined) return [this.#undefinedIn(resource, name, position)];
    if (!isPlainObject(value) || Object.keys(value).length === 0)
      this.refuse(resource, name, "names a collection; write { some: { ... } } or { none: { ... } }");
    return Object.entries(value).map(([quantifier, inner]): Condition => {
      if (quantifier !== "some" && quantifier !== "none")
        this.refuse(resource, name, `has ${quantifier} for it, which is unknown; use some or none`);
      this.count(resource);
      const isNone = quantifier === "none";
      if (inner === undefined) return this.#undefinedIn(resource, name, position);
      const conditions = this.parse(referring, inner, {
        depth: position.depth + 1,
        isNegated: position.isNegated !== isNone,
      });
      const some: Condition = { attribute: reference, operator: "some", resource: referring, conditions };
      return isNone ? { operator: "not", conditions: [some] } : some;
    });
  }

  #undefinedIn(resource: ResourceModel, name: string | undefined, position: Position): Condition {
    this.refuseUndefined(resource, name);
    return this.unknownIn(position);
  }
}
