// The event log: `event(id)` and `eventsConnection`, with the filters and cursors of REST.

import {
  GraphQLEnumType,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLScalarType,
  GraphQLString,
} from "graphql";
import { orNull } from "../../engine/or-null.ts";
import { validationError } from "../../errors.ts";
import { type EventFilter, type EventListRequest, filterChoices } from "../../event-log/event-filter.ts";
import type { EventPage } from "../../event-log/event-log.ts";
import type { LoggedEvent } from "../../event-log/logged-event.ts";
import { eventsScope } from "../../event-log/operations.ts";
import type { ResourceModel } from "../../model/model.ts";
import { defaultLimit, maxFilterValues, maxLimit } from "../../model/operation-parameters.ts";
import type { CollectedField, SelectionSet } from "../document/collect-fields.ts";
import { dateTime, json } from "../schema/scalars.ts";
import { requiredId } from "../schema/shared-types.ts";
import { connectionType } from "./connection.ts";
import { type ConnectionPage, connectionText, objectText } from "./connection-text.ts";
import { type Arguments, type FieldRunner, objectMapping } from "./field-mapping.ts";
import { connectionLimit, isPresent, pageArguments } from "./list-arguments.ts";
import { withMapping } from "./mapping-of.ts";
import { typeNameText } from "./meta-fields.ts";
import type { RootField, SharedFieldKind } from "./root-field.ts";
import { unboundedLength } from "./row-members.ts";

/** What a field costs beside its events, in rows: as much as a request to the event log. */
const readCost = 100;

const mapping = { ...objectMapping, access: () => ({ scope: eventsScope, isPublic: false }) };

export const eventLogFields: SharedFieldKind = ({ rows }) => {
  const type = eventType();
  const recorded = [...rows.keys()].filter(({ recordsEvents }) => recordsEvents);
  const event: RootField = {
    name: "event",
    type,
    args: { id: { type: requiredId } },
    description: "The event with this id, or null.",
    mapping: { ...mapping, cost: () => readCost, compile: compileEvent },
  };
  const connection: RootField = {
    name: "eventsConnection",
    type: new GraphQLNonNull(connectionType(type)),
    args: {
      first: { type: GraphQLInt, description: `${defaultLimit} by default, ${maxLimit} at most.` },
      after: { type: GraphQLString },
      last: { type: GraphQLInt },
      before: { type: GraphQLString },
      filter: { type: filterType() },
      sort: { type: sortType(), default: { value: newestFirst } },
    },
    description:
      "What happened to the rows that the caller sees. A page can have fewer events than requested even if there are more.",
    mapping: {
      ...mapping,
      maxItems: connectionLimit,
      cost: (_rows, args) => readCost + connectionLimit(args),
      compile: (field) => compileConnection(recorded, field),
    },
  };
  return [event, connection];
};

function compileEvent(field: CollectedField): FieldRunner {
  const id = String(field.arguments.id);
  const [selected] = field.selectionSets;
  return ({ eventLog, caller }) => orNull(eventLog.get(caller, id).then((event) => textOf(event, selected!)));
}

function compileConnection(recorded: readonly ResourceModel[], field: CollectedField): FieldRunner {
  const { arguments: args, selectionSets } = field;
  const { fields } = selectionSets[0]!;
  return async ({ eventLog, caller }) => {
    const request = requestOf(args, recorded);
    const page = await eventLog.list(caller, request);
    return connectionText(fields, connectionPage(page, request));
  };
}

/** @throws Problem `validation_error` */
function requestOf(args: Arguments, recorded: readonly ResourceModel[]): EventListRequest {
  const page = pageArguments(args);
  return {
    filter: filterOf(isPresent(args.filter) ? (args.filter as Arguments) : {}, recorded),
    isOldestFirst: args.sort === oldestFirst,
    ...page,
  };
}

/** @throws Problem `validation_error` for an unknown type or resource, for null, and for too many values */
function filterOf(filter: Arguments, recorded: readonly ResourceModel[]): EventFilter {
  for (const [name, value] of Object.entries(filter)) {
    const field = `filter.${name}`;
    if (value === null) throw validationError(field, "type", `${name} must not be null. Leave it out.`);
    if (Array.isArray(value) && value.length > maxFilterValues)
      throw validationError(field, "max", `${name} has more than ${maxFilterValues} values.`);
  }
  // The schema has coerced the values.
  const { type: types, resource: resources, resourceId: resourceIds, ...others } = filter as FilterArgument;
  const known = filterChoices(recorded);
  requireKnown("type", types, known.types);
  requireKnown("resource", resources, known.resources);
  const { createdAtGte: gte, createdAtGt: gt, createdAtLte: lte, createdAtLt: lt, after } = others;
  return { types, resources, resourceIds, gte, gt, lte, lt, after };
}

function requireKnown(name: string, values: readonly string[] | undefined, known: readonly string[]): void {
  if (values?.every((value) => known.includes(value)) ?? true) return;
  throw validationError(`filter.${name}`, "choice", `${name} must be one of ${known.join(", ")}.`);
}

interface FilterArgument {
  readonly type?: readonly string[];
  readonly resource?: readonly string[];
  readonly resourceId?: readonly string[];
  readonly createdAtGte?: string;
  readonly createdAtGt?: string;
  readonly createdAtLte?: string;
  readonly createdAtLt?: string;
  readonly after?: string;
}

function filterType(): GraphQLInputObjectType {
  const listOf = (type: GraphQLScalarType) => ({ type: new GraphQLList(new GraphQLNonNull(type)) });
  const time = { type: dateTime };
  return new GraphQLInputObjectType({
    name: "EventFilter",
    description: "All fields must match.",
    fields: {
      type: { ...listOf(GraphQLString), description: "Only events of these types, such as `post.created`." },
      resource: {
        ...listOf(GraphQLString),
        description: "Only events of these resources, such as `post` or `api_key`.",
      },
      resourceId: { ...listOf(GraphQLID), description: "Of any of these rows." },
      createdAtGte: time,
      createdAtGt: time,
      createdAtLte: time,
      createdAtLt: time,
      after: { type: GraphQLID, description: "The id of an event. Only later events are returned." },
    },
  });
}

const newestFirst = "CREATED_AT_DESC";
const oldestFirst = "CREATED_AT_ASC";

function sortType(): GraphQLEnumType {
  return new GraphQLEnumType({ name: "EventSort", values: { [newestFirst]: {}, [oldestFirst]: {} } });
}

function eventType(): GraphQLObjectType {
  const field = (type: GraphQLScalarType, description: string, maxLength = 0) => ({
    type: new GraphQLNonNull(type),
    description,
    ...withMapping({ ...objectMapping, maxLength }),
  });
  return new GraphQLObjectType({
    name: "Event",
    description: "A row was created, updated or deleted.",
    fields: {
      id: field(GraphQLID, "The same for every reader."),
      type: field(GraphQLString, "The resource and what happened: `post.created`."),
      resource: field(GraphQLString, "The resource in snake_case: `api_key`."),
      resourceId: field(GraphQLID, "The id of the row."),
      data: field(json, "The row after the write, or before its deletion.", unboundedLength),
      createdAt: field(dateTime, "When the write began."),
    },
  });
}

function textOf(event: LoggedEvent, { fields }: SelectionSet): string {
  return objectText(fields, (field) => {
    const { name } = field.definition;
    if (name === "__typename") return typeNameText(field);
    // The fields of the type are the members of an event.
    return name === "data" ? event.data : JSON.stringify(event[name as keyof LoggedEvent]);
  });
}

/** A page as connections write it. The end of a page without further events is its last event. */
function connectionPage(page: EventPage, { isBackward, cursor }: EventListRequest): ConnectionPage {
  const { events, hasMore, nextCursor, prevCursor } = page;
  const isContinued = cursor !== undefined;
  return {
    count: events.length,
    nodeText: (index, node) => textOf(events[index]!, node.selectionSets[0]!),
    cursorAt: (index) => page.cursorAt(index),
    hasNext: isBackward ? isContinued : hasMore,
    hasPrevious: isBackward ? hasMore : isContinued,
    startCursor: prevCursor,
    endCursor: nextCursor ?? (events.length > 0 ? page.cursorAt(events.length - 1) : undefined),
  };
}
