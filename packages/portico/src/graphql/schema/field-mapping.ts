// What the fields of the schema mean in the words of the model. The schema carries it with each field, so that nobody
// who runs a document works it out again.

import type { GraphQLField } from "graphql";
import type { ActionModel, Attribute, ResourceModel } from "../../model/model.ts";
import type { Sort } from "../../query/read.ts";

export type FieldMapping = RowFieldMapping | RootFieldMapping | EventFieldMapping | PageFieldMapping;

/** A member of a row. */
export type RowFieldMapping =
  | { readonly kind: "value"; readonly attribute: Attribute }
  | { readonly kind: "row"; readonly reference: Attribute }
  | { readonly kind: "list"; readonly resource: ResourceModel; readonly reference: Attribute };

/** A field of Query or Mutation. */
export type RootFieldMapping =
  | { readonly kind: "one" | "first" | "page"; readonly resource: ResourceModel }
  | { readonly kind: "node" | "search" }
  | { readonly kind: "create"; readonly resource: ResourceModel }
  | { readonly kind: "update"; readonly resource: ResourceModel }
  | { readonly kind: "delete"; readonly resource: ResourceModel }
  | { readonly kind: "act"; readonly resource: ResourceModel; readonly action: ActionModel };

/** A field of Subscription: rows to which something happens. */
export interface EventFieldMapping {
  readonly kind: "event";
  readonly resource: ResourceModel;
  readonly action: EventAction;
}

export const eventActions = ["created", "updated", "deleted"] as const;
export type EventAction = (typeof eventActions)[number];

/** A part of a connection (Relay's Cursor Connections Specification). */
export type PageFieldMapping =
  | { readonly kind: "edges" | "edgeNode"; readonly resource: ResourceModel }
  | { readonly kind: "pageInfo" | "edgeCursor" }
  | { readonly kind: "pageFact"; readonly fact: PageInfoField };

export const pageInfoFields = ["hasNextPage", "hasPreviousPage", "startCursor", "endCursor"] as const;
export type PageInfoField = (typeof pageInfoFields)[number];

/** The meaning of a field; undefined for those of introspection. */
export function mappingOf({ extensions }: GraphQLField<unknown, unknown>): FieldMapping | undefined {
  // Every field that the schema is made of is given one.
  return extensions.meaning as FieldMapping | undefined;
}

/** What arguments hold once they have been read; a value of an enumeration of sorts is a sort. */
export interface ListArguments {
  readonly limit?: number | null;
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
  readonly before?: string | null;
  readonly filter?: Readonly<Record<string, unknown>> | null;
  readonly sort?: Sort | null;
}
