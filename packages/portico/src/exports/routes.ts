// `GET /v1/exports/{collection}`.

import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import type { RouteOptions } from "../api/route-options.ts";
import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { Problem } from "../errors.ts";
import type { PresentedHeaders } from "../lib/presented-headers.ts";
import type { ResourceModel } from "../model/model.ts";
import { routeOf } from "../model/operations.ts";
import { parseQuery } from "../query/query-string.ts";
import type { QueryParameters } from "../rest/query/parameters.ts";
import { maxStreamMs, type RowStream } from "../store/row-stream.ts";
import { type ExportControls, exportBody } from "./export-body.ts";
import { exportRows, type Format, formats, mediaTypes } from "./operation.ts";
import { type ExportRequest, listParametersOf, parseExport } from "./parse-request.ts";
import { ExportSlots } from "./slots.ts";

export interface ExportRouteOptions extends Pick<RouteOptions, "callerOf">, Pick<ExportControls, "charge"> {
  readonly engine: Engine;
  /** Those whose rows can be exported. */
  readonly resources: readonly ResourceModel[];
  /** The current caller of a credential. @throws Problem 401 */
  readonly verify: (presented: PresentedHeaders) => Promise<Caller>;
  /** Called for an export that was cut off after its response had begun. */
  readonly onCut: (details: { readonly err: unknown; readonly requestId: string }) => void;
}

interface Params {
  readonly collection: string;
}

interface Collection {
  readonly resource: ResourceModel;
  readonly parameters: QueryParameters;
}

export function registerExportRoutes(routes: FastifyInstance, options: ExportRouteOptions): void {
  const slots = new ExportSlots();
  const collections = new Map(
    options.resources
      .filter(({ isExposed, operations }) => isExposed && operations.has("list"))
      .map((resource): [string, Collection] => [
        resource.segment,
        { resource, parameters: listParametersOf(resource) },
      ]),
  );
  for (const prefix of exportRows.prefixes)
    routes.route<{ Params: Params }>({
      method: exportRows.method,
      url: routeOf(exportRows, prefix),
      exposeHeadRoute: false,
      config: { mediaTypes: formats.map((format) => mediaTypes[format]) },
      handler: async (request, reply) => {
        const collection = collections.get(request.params.collection);
        if (!collection) throw new Problem("not_found", "There is no such collection to export.");
        const { resource, parameters } = collection;
        const exported = parseExport(resource, parameters, parseQuery(request.url));
        return send(request, reply, exported, slots, options);
      },
    });
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  exported: ExportRequest,
  slots: ExportSlots,
  { engine, callerOf, verify, charge, onCut }: ExportRouteOptions,
): Promise<FastifyReply> {
  const caller = callerOf(request);
  const format = exported.format ?? acceptedFormat(request);
  const end = new AbortController();
  const free = slots.take(caller.tenantId);
  const timeout = setTimeout(() => end.abort(), maxStreamMs);
  let rows: RowStream | undefined;
  const close = (): void => {
    clearTimeout(timeout);
    free();
    end.abort();
    rows?.close();
  };
  end.signal.addEventListener("abort", () => rows?.close());
  request.raw.socket.once("close", close);
  try {
    rows = await engine.stream(caller, exported);
    if (request.raw.socket.destroyed) throw new Problem("unavailable", "The client has disconnected.");
  } catch (error) {
    close();
    throw error;
  }
  const { headers, rawHeaders } = request.raw;
  const controls = { verify: () => verify({ headers, rawHeaders }), charge, signal: end.signal };
  const body = Readable.from(bytesOf(exportBody(rows, caller, controls)), { objectMode: false });
  body.once("error", (err) => {
    if (!request.raw.socket.destroyed) onCut({ err, requestId: request.id });
  });
  body.once("close", () => {
    request.raw.socket.off("close", close);
    close();
  });
  reply.headers({
    "Content-Type": `${mediaTypes[format]}; charset=utf-8`,
    "Content-Disposition": `attachment; filename="${exported.resource.segment}.${format}"`,
    "Cache-Control": "private, no-store",
    ...(rows.total !== undefined && { "Total-Count": String(rows.total) }),
  });
  return reply.send(body);
}

/** By the header `Accept`; anything else than a format of exports gets the first. */
function acceptedFormat({ headers }: FastifyRequest): Format {
  const types = formats.map((format) => mediaTypes[format]);
  const accepted = new Negotiator({ headers }).mediaType(types);
  return formats.find((format) => mediaTypes[format] === accepted) ?? formats[0];
}

async function* bytesOf(chunks: AsyncIterable<{ readonly bytes: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of chunks) yield bytes;
}
