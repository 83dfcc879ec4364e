// `GET /v1/events` and `GET /v1/events/{id}`.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ChargeResponse, RouteOptions, SetQuotaHeaders } from "../api/route-options.ts";
import type { Caller } from "../declare/caller.ts";
import { validationError } from "../errors.ts";
import { originForm } from "../lib/origin-form.ts";
import type { ResourceModel } from "../model/model.ts";
import { routeOf } from "../model/operations.ts";
import type { ServedVersion } from "../model/served-versions.ts";
import { tokensOf } from "../query/answer-size.ts";
import { rowSeparator } from "../query/page.ts";
import { parseQuery } from "../query/query-string.ts";
import type { EventListRequest } from "./event-filter.ts";
import type { EventLog, EventPage } from "./event-log.ts";
import { eventText } from "./logged-event.ts";
import { getEvent, listEvents } from "./operations.ts";
import { parseEventList } from "./parse-request.ts";

export interface EventRouteOptions extends RouteOptions {
  readonly log: EventLog;
  /** The resources whose events there are. */
  readonly resources: readonly ResourceModel[];
  readonly versions: readonly ServedVersion[];
  readonly chargeResponse: ChargeResponse;
}

type EventRequest = FastifyRequest<{ Params: { readonly id: string } }>;

export function registerEventRoutes(routes: FastifyInstance, options: EventRouteOptions): void {
  const { log, resources, basePath, callerOf, chargeResponse } = options;
  /** The response, once its size is charged. */
  const json = async (caller: Caller, text: string, reply: FastifyReply): Promise<string> => {
    reply.header("Content-Type", "application/json; charset=utf-8");
    const tokens = tokensOf(text);
    const setHeaders: SetQuotaHeaders = (headers) => void reply.headers(headers);
    if (tokens > 0) await chargeResponse(caller, tokens, setHeaders);
    return text;
  };
  const listIn = (version: ServedVersion) => async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = callerOf(request);
    const eventList = parseEventList(parseQuery(request.url), resources);
    const page = await log.list(caller, eventList);
    const link = linkOf(page, eventList, `${basePath}${originForm(request.url)}`);
    if (link !== "") reply.header("Link", link);
    return json(caller, textOf(page, version), reply);
  };
  const getIn = (version: ServedVersion) => async (request: EventRequest, reply: FastifyReply) => {
    const [unknown] = parseQuery(request.url).keys();
    if (unknown !== undefined)
      throw validationError(unknown.slice(0, 100), "unknown", "An event takes no parameters.");
    const caller = callerOf(request);
    return json(caller, eventText(await log.get(caller, request.params.id), version), reply);
  };
  for (const version of options.versions) {
    const { prefix, config } = version;
    const { method } = listEvents;
    routes.route({ method, url: routeOf(listEvents, prefix), config, handler: listIn(version) });
    routes.route({ method, url: routeOf(getEvent, prefix), config, handler: getIn(version) });
  }
}

function textOf({ events, nextCursor, hasMore, prevCursor }: EventPage, version: ServedVersion): string {
  const pagination = JSON.stringify({ nextCursor, hasMore, prevCursor });
  const rows = events.map((event) => eventText(event, version));
  return `{"data":[${rows.join(rowSeparator)}],"pagination":${pagination}}`;
}

/** The links to the pages before and after (RFC 8288); empty if there are none. */
function linkOf(
  { nextCursor, prevCursor, hasMore }: EventPage,
  { isBackward, cursor }: EventListRequest,
  target: string,
): string {
  const { pathname, searchParams } = new URL(target, "http://localhost");
  const linkTo = (rel: "next" | "prev", token: string): string => {
    searchParams.set("cursor", token);
    if (rel === "next") searchParams.delete("direction");
    else searchParams.set("direction", "backward");
    return `<${pathname}?${searchParams}>; rel="${rel}"`;
  };
  const hasPrevious = isBackward ? hasMore : cursor !== undefined;
  return [
    ...(nextCursor === null ? [] : [linkTo("next", nextCursor)]),
    ...(prevCursor === undefined || !hasPrevious ? [] : [linkTo("prev", prevCursor)]),
  ].join(", ");
}
