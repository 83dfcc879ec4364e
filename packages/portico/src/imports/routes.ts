// `POST /v1/imports/{collection}`.

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RouteOptions } from "../api/route-options.ts";
import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorize.ts";
import type { Engine } from "../engine/engine.ts";
import { type ErrorCode, Problem } from "../errors.ts";
import type { PresentedHeaders } from "../lib/presented-headers.ts";
import type { Report } from "../lib/report.ts";
import type { ResourceModel } from "../model/model.ts";
import { routeOf } from "../model/operations.ts";
import type { ServedVersion } from "../model/served-versions.ts";
import { requireUncompressed } from "../net/content-encoding.ts";
import { ReceivedBody } from "../net/received-body.ts";
import { parseQuery } from "../query/query-string.ts";
import { CsvParser } from "./csv.ts";
import { ImportRun } from "./import-run.ts";
import type { ImportSlots } from "./import-slots.ts";
import type { LineParser } from "./imported-line.ts";
import { NdjsonParser } from "./ndjson.ts";
import { importsPath } from "./operations.ts";
import type { ImportOutcome } from "./outcome.ts";
import { type ImportRequest, parseImport } from "./parse-request.ts";
import { RowImport } from "./row-import.ts";

export interface ImportRouteOptions extends Pick<RouteOptions, "callerOf"> {
  readonly engine: Engine;
  readonly versions: readonly ImportVersion[];
  readonly slots: ImportSlots;
  readonly report: Report;
  /** The caller of a request, by what its credential is worth now. @throws Problem */
  readonly verify: (presented: PresentedHeaders) => Promise<Caller>;
  /** Takes tokens of the caller's quota, also if there are none. @returns seconds until there is one again */
  readonly charge: (caller: Caller, tokens: number) => number | Promise<number>;
  /** Lets a body arrive for longer than others may take. @returns ends that */
  readonly withoutTimeout: (request: IncomingMessage) => () => void;
}

/** A version of the API, with the resources whose rows can be imported there, by their segments. */
export interface ImportVersion extends Pick<ServedVersion, "prefix" | "config"> {
  readonly resources: ReadonlyMap<string, ResourceModel>;
}

type CollectionRequest = FastifyRequest<{ Params: { readonly collection: string } }>;

const jsonType = "application/json; charset=utf-8";
const linesType = "application/x-ndjson";
/** How long an import waits for quota before a group: others need its slot. */
const maxQuotaWaitSeconds = 60;

/**
 * Errors after which the rest of the body is not waited for: the sender is too slow (RFC 9110, section 15.5.9), or the
 * server is closed.
 */
const closingCodes: ReadonlySet<ErrorCode> = new Set(["request_timeout", "unavailable"]);

const parsers: Readonly<Record<string, (resource: ResourceModel) => LineParser>> = {
  [linesType]: () => new NdjsonParser(),
  "text/csv": (resource) => new CsvParser(resource),
};

export async function registerImportRoutes(
  routes: FastifyInstance,
  options: ImportRouteOptions,
): Promise<void> {
  // Its bodies are read by the handler, line by line, and not by a parser.
  // handled: Fastify awaits what it registers, and throws here what this throws.
  await routes.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, done) => done(null));
    for (const { prefix, config, resources } of options.versions) {
      scope.route({
        method: "POST",
        url: routeOf({ path: importsPath }, prefix),
        handler: importHandler(options, resources),
        config: { ...config, streamsBody: true, mediaTypes: ["application/json", linesType] },
      });
    }
  });
}

function importHandler(options: ImportRouteOptions, resources: ImportVersion["resources"]) {
  const { callerOf, slots } = options;
  return async (request: CollectionRequest, reply: FastifyReply): Promise<string | FastifyReply> => {
    const caller = callerOf(request);
    const resource = resources.get(request.params.collection);
    if (!resource) throw new Problem("not_found", "There is no collection with this name to import into.");
    const parse = parserOf(request);
    const parsed = parseImport(resource, parseQuery(request.url));
    requireScope(caller, resource.scopes.write);
    const body = new ReceivedBody(request.raw);
    const endSlot = slots.take(caller, (problem) => body.interrupt(problem));
    const restoreTimeout = options.withoutTimeout(request.raw);
    const run = new ImportRun({
      source: {
        next: () => {
          slots.requireRunning();
          return body.next();
        },
      },
      parser: parse(resource),
      rows: new RowImport(parsed, options),
      isAtomic: parsed.isAtomic,
      currentCaller: currentCallers(request, parsed, options),
    });
    const end = (): void => {
      endSlot();
      restoreTimeout();
      body.discard();
    };
    if (parsed.sendsProgress) return sendProgress(run, reply, end);
    try {
      for await (const _group of run.run());
    } finally {
      end();
    }
    const { status, stoppedBy } = run.outcome;
    if (stoppedBy) reply.headers(stoppedBy.headers);
    if (stoppedBy && closingCodes.has(stoppedBy.code)) reply.header("Connection", "close");
    return reply.code(status).header("Content-Type", jsonType).send(run.outcome.toText());
  };
}

/** @throws Problem `unsupported_media_type` */
function parserOf({ headers }: FastifyRequest): (resource: ResourceModel) => LineParser {
  requireUncompressed(headers["content-encoding"]);
  const [type = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";");
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith("charset="));
  const isUtf8 = charset === undefined || /^charset="?utf-8"?$/.test(charset);
  const parser = Object.hasOwn(parsers, type.trim()) ? parsers[type.trim()] : undefined;
  if (parser && isUtf8) return parser;
  throw new Problem(
    "unsupported_media_type",
    `Send the lines as ${Object.keys(parsers).join(" or ")}, in UTF-8.`,
  );
}

/**
 * Before each group the credential is verified, because its lines may have arrived slowly, and before each one after the
 * first the quota is charged.
 */
function currentCallers(
  request: FastifyRequest,
  { resource }: ImportRequest,
  { charge, verify, slots }: ImportRouteOptions,
): () => Promise<Caller> {
  let caller: Caller | undefined;
  return async () => {
    const seconds = caller ? await charge(caller, 1) : 0;
    if (seconds > maxQuotaWaitSeconds) throw withoutQuota(seconds);
    for (let waited = 0; waited < seconds; waited += 1) {
      slots.requireRunning();
      await sleep(1_000);
    }
    caller = await verify(request.raw);
    requireScope(caller, resource.scopes.write);
    return caller;
  };
}

function withoutQuota(seconds: number): Problem {
  const message = `The quota of the credential allows no further group for ${seconds} s.`;
  return new Problem("rate_limited", message, [], { "Retry-After": String(seconds) });
}

/** Answers with a line for each group, and the result as the last line. */
function sendProgress(run: ImportRun, reply: FastifyReply, end: () => void): FastifyReply {
  const lines = async function* (): AsyncGenerator<string, void> {
    for await (const outcome of run.run()) yield progressLine(outcome);
    yield `${run.outcome.toText()}\n`;
  };
  // If the client is gone already, nobody begins to read the lines, and the generator never runs.
  const body = Readable.from(lines()).once("close", end);
  return reply.header("Content-Type", linesType).send(body);
}

function progressLine({ lines, created, updated, failed }: ImportOutcome): string {
  return `${JSON.stringify({ progress: { lines, created, updated, failed } })}\n`;
}
