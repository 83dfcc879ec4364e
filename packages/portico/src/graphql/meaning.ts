// What the fields of the schema mean in the words of the model. The schema carries it with each field, so that nobody
// who runs a document works it out again.

import type { GraphQLField } from "graphql";
import type { ActionModel, Attribute, ResourceModel } from "../declare/model.ts";
import type { Sort } from "../plan/read.ts";

export type Meaning = RowMeaning | RootMeaning | EventMeaning | PageMeaning;

/** A member of a row. */
export type RowMeaning =
  | { readonly kind: "value"; readonly attribute: Attribute }
  | { readonly kind: "row"; readonly reference: Attribute }
  | { readonly kind: "list"; readonly resource: ResourceModel; readonly reference: Attribute };

/** A field of Query or Mutation. */
export type RootMeaning =
  | { readonly kind: "one" | "first" | "page"; readonly resource: ResourceModel }
  | { readonly kind: "node" | "search" }
  | { readonly kind: "create"; readonly resource: ResourceModel }
  | { readonly kind: "change"; readonly resource: ResourceModel }
  | { readonly kind: "remove"; readonly resource: ResourceModel }
  | { readonly kind: "act"; readonly resource: ResourceModel; readonly action: ActionModel };

/** A field of Subscription: rows to which something happens. */
export interface EventMeaning {
  readonly kind: "event";
  readonly resource: ResourceModel;
  readonly action: EventAction;
}

export const eventActions = ["created", "changed", "removed"] as const;
export type EventAction = (typeof eventActions)[number];

/** A part of a connection (Relay's Cursor Connections Specification). */
export type PageMeaning =
  | { readonly kind: "edges" | "edgeNode"; readonly resource: ResourceModel }
  | { readonly kind: "pageInfo" | "edgeCursor" }
  | { readonly kind: "pageFact"; readonly fact: PageFact };

export const pageFacts = ["hasNextPage", "hasPreviousPage", "startCursor", "endCursor"] as const;
export type PageFact = (typeof pageFacts)[number];

/** The meaning of a field; undefined for those of introspection. */
export function meaningOf({ extensions }: GraphQLField<unknown, unknown>): Meaning | undefined {
  // Every field that the schema is made of is given one.
  return extensions.meaning as Meaning | undefined;
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
