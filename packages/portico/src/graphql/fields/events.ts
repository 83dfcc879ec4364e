// Subscription fields: `postCreated`, `postUpdated` and `postDeleted`.

import { GraphQLID, GraphQLNonNull } from "graphql";
import { containerConditions } from "../../engine/containers.ts";
import { type Problem, validationError } from "../../errors.ts";
import { eventType } from "../../events/event-type.ts";
import type { ResourceModel } from "../../model/model.ts";
import { isOwn } from "../../query/own-text.ts";
import type { Selection } from "../../query/read.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import { pascalCase } from "../schema/naming.ts";
import { type Arguments, type EventSelection, rowMapping } from "./field-mapping.ts";
import { filterConditions } from "./filter-arguments.ts";
import { isPresent, parentContainer } from "./list-arguments.ts";
import type { ResourceFieldKind } from "./root-field.ts";
import { selectionOf } from "./row-members.ts";

const eventActions = ["created", "updated", "deleted"] as const;
type EventAction = (typeof eventActions)[number];

export const rowEvents: ResourceFieldKind = ({ resource, row, pageArguments: { filter } }) => {
  if (!resource.recordsEvents) return [];
  return eventActions.map((action) => ({
    name: resource.name + pascalCase(action),
    type: new GraphQLNonNull(row),
    args: {
      ...(action !== "created" && { id: { type: GraphQLID } }),
      ...(resource.parent && { [resource.parent.name]: { type: GraphQLID } }),
      ...(filter && { filter }),
    },
    ...(action === "deleted" && { description: "The row as it was before, with its own fields only." }),
    mapping: {
      ...rowMapping,
      access: () => ({ scope: resource.scopes.read, isPublic: false }),
      // The messages of events are rendered by the subscription plan.
      compile: () => async () => "null",
      selectEvents: (field) => selectEvents(resource, action, field),
    },
  }));
};

/** @throws Problem `validation_error` */
function selectEvents(resource: ResourceModel, action: EventAction, field: CollectedField): EventSelection {
  const { responseName, arguments: args } = field;
  const selection = selectionOf(field);
  if (action === "deleted" && !resource.markOnDelete && !isOwn(selection))
    throw notInDeletedRow(responseName, selection);
  const { parent } = resource;
  const container = parent && isPresent(args[parent.name]) ? parentContainer(resource, args) : undefined;
  const filter = isPresent(args.filter) ? filterConditions(resource, args.filter as Arguments) : [];
  return {
    resource,
    kind: eventType(resource.name, action),
    id: isPresent(args.id) ? String(args.id) : undefined,
    conditions: [...(container ? containerConditions(container) : []), ...filter],
    selection,
  };
}

function notInDeletedRow(name: string, { members }: Selection): Problem {
  const inner = members.find(({ kind }) => kind !== "value" && kind !== "constant")!;
  // All but parts have names, and a row type selects no parts.
  const field = `${name}.${"name" in inner ? inner.name : ""}`;
  return validationError(
    field,
    "unknown",
    `Cannot select "${field}": the row is deleted, and only its own fields are recorded.`,
  );
}
