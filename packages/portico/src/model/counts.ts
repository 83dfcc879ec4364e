// Counts: fields whose value is the number of rows of a resource that refer to the row.

import type { FieldShape } from "../declare/field.ts";
import type { Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import type { Draft } from "./attributes.ts";
import { isIndexable, maxIndexFields } from "./indexes.ts";
import {
  type Attribute,
  type AttributeShape,
  type CountModel,
  defaultSort,
  type IndexModel,
  type KeptCount,
  type ResourceModel,
} from "./model.ts";

type CountShape = Extract<FieldShape, { kind: "count" }>;

/** The largest number that GraphQL's `Int` holds. */
const maxCount = 2_147_483_647;

/** The attribute of a count that is stored in the row, as a field that only the server sets; undefined for others. */
export function keptCountShape({ options }: CountShape): AttributeShape | undefined {
  const { kept, description, deprecated } = options;
  if (!kept) return undefined;
  const described = { ...(description !== undefined && { description }), ...(deprecated && { deprecated }) };
  // A write of a counted row does not update the row that counts it.
  const stored = { default: 0, min: 0, max: maxCount, readOnly: true, excludeFromETag: true } as const;
  return { kind: "integer", options: { ...stored, ...described } };
}

/**
 * Resolves the counts of a resource once all resources have their attributes.
 * @throws OperatorError for a count of rows that do not refer to the resource
 */
export function countsOf(
  { name: owner, declaration }: Resource,
  target: ResourceModel,
  drafts: ReadonlyMap<string, Draft>,
): Pick<ResourceModel, "counts" | "keptCounts"> {
  const counts = new Map<string, CountModel>();
  const keptCounts: KeptCount[] = [];
  for (const [name, shape] of Object.entries(declaration.fields)) {
    if (shape.kind !== "count") continue;
    const refuse = (remedy: string): never => {
      throw new OperatorError(`resource ${owner}, field ${name}: ${remedy}`);
    };
    const isTaken = target.attributes.some(
      (each) => (each.name === name && !shape.options.kept) || each.reference?.name === name,
    );
    if (isTaken) refuse("also the name of a reference; rename one");
    const resource = countedResource(shape, drafts, refuse);
    const reference = countedReference(shape, resource, target, refuse);
    const { where = {}, kept, description, deprecated } = shape.options;
    const count = { name, owner, resource, reference, where, description, deprecated };
    if (kept) keptCounts.push(Object.freeze({ ...count, attribute: target.attribute.get(name)! }));
    else counts.set(name, Object.freeze(count));
  }
  return { counts, keptCounts };
}

/** @throws OperatorError for a kept count of rows that not everybody sees who sees the row */
export function validateKeptCounts({ keptCounts }: ResourceModel): void {
  for (const { name, owner, resource, reference } of keptCounts) {
    const isInherited = resource.inheritsPolicy && resource.parent === reference && !resource.policy.read;
    if (!resource.isRestricted || isInherited) continue;
    throw new OperatorError(
      `resource ${owner}, field ${name}: a policy decides who sees which ${resource.plural}, but a kept count is the same for everybody; remove kept`,
    );
  }
}

function countedResource(
  { of, options }: CountShape,
  drafts: ReadonlyMap<string, Draft>,
  refuse: (remedy: string) => never,
): ResourceModel {
  const counted = of() as Resource | undefined;
  const found = typeof counted?.name === "string" ? drafts.get(counted.name) : undefined;
  const resource =
    found ?? refuse(`counts ${counted?.name ?? "nothing"}, which the app does not list; add it to resources`);
  if (!resource.isExposed && !options.kept)
    refuse(`counts ${resource.name}, which no caller may read, because it is not exposed; count another`);
  return resource;
}

/** The attribute of the counted rows that refers to the target: the one that is chosen, their parent, or the only one. */
function countedReference(
  { options: { by } }: CountShape,
  counted: ResourceModel,
  target: ResourceModel,
  refuse: (remedy: string) => never,
): Attribute {
  const references = counted.references.filter(
    ({ reference, isInternal }) => reference!.target === target && !isInternal,
  );
  const names = references.map(({ reference }) => reference!.name);
  if (references.length === 0)
    refuse(`counts ${counted.plural}, which do not refer to ${target.name}; count rows that do`);
  const parent = references.find((each) => each === counted.parent);
  if (by === undefined && references.length > 1 && !parent)
    refuse(`${counted.plural} refer to ${target.name} by ${names.join(", ")}; choose one with by`);
  const reference =
    by === undefined ? (parent ?? references[0]) : references.find((each) => each.reference!.name === by);
  return (
    reference ?? refuse(`by names ${by}, which is not a reference to ${target.name}; use ${names.join(", ")}`)
  );
}

/** The indexes of a counted resource: one of them begins with the reference and with what a count compares by equality. */
export function withIndexOfCount(
  { attribute: attributes, indexes }: Pick<ResourceModel, "attribute" | "indexes">,
  { reference, where }: CountModel,
): readonly IndexModel[] {
  const compared = Object.entries(where).flatMap(([name, value]): readonly Attribute[] => {
    const attribute = attributes.get(name);
    return attribute && attribute !== reference && isIndexable(attribute) && isEquality(value)
      ? [attribute]
      : [];
  });
  const sought = new Set([reference, ...compared.slice(0, maxIndexFields - 1)]);
  const isFound = indexes.some(({ columns }) => {
    const first = columns.slice(0, sought.size).map(({ attribute }) => attribute);
    return columns[0]!.attribute === reference && first.every((each) => sought.has(each));
  });
  if (isFound) return indexes;
  const all = [...sought, attributes.get(defaultSort)!, attributes.get("id")!];
  const columns = [...new Set(all)].map((each) => ({ attribute: each, isDescending: false }));
  return [...indexes, { columns, unique: undefined }];
}

/** Whether a condition of a field names the values that it may have. */
function isEquality(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return true;
  const operators = Object.keys(value);
  return operators.length === 1 && (operators[0] === "in" || operators[0] === "isNull");
}
