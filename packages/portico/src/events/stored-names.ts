// Recorded events name resources and fields as they were first declared, so that processes of an earlier version that
// use the same database understand them. They are translated when they are recorded and when they are read.

import { renameMembers } from "../lib/rename-members.ts";
import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import { currentEventType, eventType } from "./event-type.ts";
import type { RecordedEvent } from "./recorded-event.ts";

type Names = ReadonlyMap<string, string>;

interface RenamedFields {
  readonly toStored: Names;
  readonly toCurrent: Names;
}

const renamedFields = new WeakMap<ResourceModel, RenamedFields>();

function renamedFieldsOf(resource: ResourceModel): RenamedFields {
  const known = renamedFields.get(resource);
  if (known) return known;
  const renamed = resource.attributes.filter(({ name, storedName }) => name !== storedName);
  const names = {
    toStored: new Map(renamed.map(({ name, storedName }) => [name, storedName])),
    toCurrent: new Map(renamed.map(({ name, storedName }) => [storedName, name])),
  };
  renamedFields.set(resource, names);
  return names;
}

/** A row, as the event of its write stores it. @param row JSON text */
export function storedRow(resource: ResourceModel, row: string): string {
  return renameMembers(row, renamedFieldsOf(resource).toStored);
}

/** The row of an event, with the names of the model. @param row JSON text */
export function currentRow(resource: ResourceModel, row: string): string {
  return renameMembers(row, renamedFieldsOf(resource).toCurrent);
}

/** What policies may read of the deleted parents of a row, as its event stores it. */
export function storedParents(resource: ResourceModel, parents: readonly RowValues[]): string {
  const texts = ancestorsOf(resource, parents).map(([ancestor, row]) =>
    storedRow(ancestor, JSON.stringify(row)),
  );
  return `[${texts.join()}]`;
}

/** The rows with their resources, nearest first. */
function ancestorsOf<Row>(resource: ResourceModel, rows: readonly Row[]): [ResourceModel, Row][] {
  let ancestor = resource;
  return rows.map((row) => {
    ancestor = ancestor.parent?.reference?.target ?? ancestor;
    return [ancestor, row];
  });
}

/** A row of the table of events, with the names that are stored. */
export interface StoredEvent extends Omit<RecordedEvent, "type"> {
  readonly kind: string;
}

/** Translates between the names of the table and those of a model. A name that the model does not have stays. */
export class StoredNames {
  readonly #byStoredName: ReadonlyMap<string, ResourceModel>;
  readonly #storedNames: Names;
  /** Current types by stored types. */
  readonly #types = new Map<string, string>();

  constructor(resources: readonly ResourceModel[]) {
    this.#byStoredName = new Map(resources.map((each) => [each.storedName, each]));
    this.#storedNames = new Map(resources.map(({ name, storedName }) => [name, storedName]));
    for (const { name, storedName } of resources) {
      if (name === storedName) continue;
      for (const action of ["created", "updated", "deleted"])
        this.#types.set(eventType(storedName, action), eventType(name, action));
    }
  }

  /** `article` -> `post`, if the resource was renamed */
  storedName(resource: string): string {
    return this.#storedNames.get(resource) ?? resource;
  }

  /** The current names of a resource and of a type of event. */
  currentNames({
    resource,
    kind,
  }: Pick<StoredEvent, "resource" | "kind">): Pick<RecordedEvent, "resource" | "type"> {
    const type = currentEventType(kind);
    return {
      resource: this.#byStoredName.get(resource)?.name ?? resource,
      type: this.#types.get(type) ?? type,
    };
  }

  /** The event with current names. */
  currentEvent({ kind, ...event }: StoredEvent): RecordedEvent {
    const names = this.currentNames({ resource: event.resource, kind });
    const resource = this.#byStoredName.get(event.resource);
    if (!resource) return { ...event, ...names };
    return {
      ...event,
      ...names,
      row: currentRow(resource, event.row),
      deletedParents: event.deletedParents && currentParents(resource, event.deletedParents),
    };
  }
}

/** @param parents a JSON list */
function currentParents(resource: ResourceModel, parents: string): string {
  const hasRenamed = (each: ResourceModel | undefined): boolean =>
    each !== undefined &&
    (renamedFieldsOf(each).toCurrent.size > 0 || hasRenamed(each.parent?.reference?.target));
  if (!hasRenamed(resource.parent?.reference?.target)) return parents;
  // Written by `storedParents`.
  const rows = JSON.parse(parents) as RowValues[];
  const texts = ancestorsOf(resource, rows).map(([ancestor, row]) =>
    renameMembers(JSON.stringify(row), renamedFieldsOf(ancestor).toCurrent),
  );
  return `[${texts.join()}]`;
}
