// `GET /v1/exports/{collection}` and `GET /v1/exports/events`.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import type { RouteOptions } from "../api/route-options.ts";
import { WorkSlots } from "../limits/work-slots.ts";
import { routeOf } from "../model/operations.ts";
import type { ServedVersion } from "../model/served-versions.ts";
import { parseQuery } from "../query/query-string.ts";
import { type ExportCollections, events } from "./export-collections.ts";
import { exportEvents, type FormatName, formats, mediaTypes, rowsPath } from "./operation.ts";
import { type SendOptions, sendExport } from "./send-export.ts";

export interface ExportRouteOptions extends Pick<RouteOptions, "callerOf">, Omit<SendOptions, "slots"> {
  readonly versions: readonly ServedVersion[];
  readonly collectionsIn: (version: ServedVersion) => ExportCollections;
}

type ExportRequest = FastifyRequest<{ Params: { readonly collection?: string } }>;

/** Each export has a thread or a connection of its own. */
const slotBounds = { perTenant: 2, perProcess: 4 };
const offeredTypes = formats.map((format) => mediaTypes[format]);

export function registerExportRoutes(routes: FastifyInstance, options: ExportRouteOptions): void {
  const { callerOf } = options;
  const slots = new WorkSlots("exports", slotBounds);
  for (const version of options.versions) {
    const collections = options.collectionsIn(version);
    const handler = async (request: ExportRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { collection = events } = request.params;
      const source = collections.source(collection, parseQuery(request.url), acceptedFormat(request));
      return sendExport(request, reply, callerOf(request), source, { ...options, slots });
    };
    for (const path of [rowsPath, exportEvents.path])
      routes.route({
        method: exportEvents.method,
        url: routeOf({ path }, version.prefix),
        exposeHeadRoute: false,
        config: { ...version.config, mediaTypes: offeredTypes },
        handler,
      });
  }
}

/** By the header `Accept`; anything else than a format of exports gets the first. */
function acceptedFormat({ headers }: FastifyRequest): FormatName {
  const accepted = new Negotiator({ headers }).mediaType(offeredTypes);
  return formats.find((format) => mediaTypes[format] === accepted) ?? formats[0];
}
