// The handlers of operations: each parses a request, calls the engine and writes the response.

import type { FastifyReply, FastifyRequest } from "fastify";
import { announceDeprecation } from "../api/deprecation-headers.ts";
import type { ResourceRouteOptions, SetQuotaHeaders } from "../api/route-options.ts";
import type { Caller } from "../declare/caller.ts";
import type { WriteResult } from "../engine/write-result.ts";
import type { Writes } from "../engine/writes.ts";
import type { IdempotentRequests } from "../idempotency/idempotent-requests.ts";
import { originForm } from "../lib/origin-form.ts";
import { hasDeprecatedFields } from "../model/deprecation.ts";
import type { ResourceModel } from "../model/model.ts";
import type { Operation, OperationKind, ReadReport } from "../model/operations.ts";
import { tokensOf } from "../query/answer-size.ts";
import { parseQuery } from "../query/query-string.ts";
import type { Container } from "../query/read.ts";
import { wholeRow } from "../query/selection.ts";
import { showFiles, type UrlOfFile } from "../query/shown-files.ts";
import { errorIn } from "../versions/errors.ts";
import { currentBody, missingIn, rowIn } from "../versions/rows.ts";
import { entityTag, isUnchanged, requireMatch, writePrecondition } from "./conditional.ts";
import { fieldDeprecations, namesInQuery } from "./deprecation.ts";
import { envelope } from "./envelope.ts";
import { parseList, parseRow } from "./query/list.ts";
import { type QueryParameters, queryParametersOf, requireParameters } from "./query/parameters.ts";

export interface RestOptions extends ResourceRouteOptions {
  /** What operations of the kind `report` return, by the id of the operation. */
  readonly reports: Readonly<Record<string, ReadReport>>;
  readonly idempotentRequests: Pick<IdempotentRequests, "run">;
  /** The address of a file. */
  readonly fileUrl: UrlOfFile;
}

type Params = { readonly id: string; readonly parentId?: string };
export type RowRequest = FastifyRequest<{ Params: Params }>;

/**
 * The body, or the reply if there is none. It is not always the reply, because Fastify waits for a promise of the reply
 * by listening to the socket.
 */
type HandlerResult = Promise<string | FastifyReply>;
/** @param writes of the transaction in which the request runs; by default each write has its own */
export type Handler = (request: RowRequest, reply: FastifyReply, writes?: Writes) => HandlerResult;

const jsonType = "application/json; charset=utf-8";

export class OperationHandlers implements Readonly<Record<OperationKind, Handler>> {
  readonly #options: RestOptions;
  readonly #operation: Operation;
  /** As the version names its fields. */
  readonly #resource: ResourceModel;
  /** The resource that the engine reads and writes. */
  readonly #current: ResourceModel;
  readonly #parameters: QueryParameters;
  /** The path of the collection that has the rows: `/api/v1/posts` */
  readonly #path: string;
  readonly #hasDeprecatedFields: boolean;

  /** @param prefix the version in the path: `/v1` */
  constructor(options: RestOptions, operation: Operation, prefix: string) {
    const { resource } = operation;
    this.#options = options;
    this.#operation = operation;
    this.#resource = resource;
    this.#current = resource.current ?? resource;
    this.#parameters = queryParametersOf(operation);
    this.#path = `${options.basePath}${prefix}/${resource.segment}`;
    this.#hasDeprecatedFields = hasDeprecatedFields(resource);
  }

  readonly list: Handler = async (request, reply) => {
    const { engine, basePath, fileUrl } = this.#options;
    const caller = this.#options.callerOf(request);
    const query = parseQuery(request.url);
    const list = parseList(this.#resource, this.#parameters, this.#containerOf(request), query);
    const page = await engine.list(caller, list);
    const rows = showFiles(list.selection, page.rows, fileUrl);
    const { text, link } = envelope(list.page, page, `${basePath}${originForm(request.url)}`, rows);
    if (link !== undefined) reply.header("Link", link);
    if (this.#hasDeprecatedFields) this.#announceFields(reply, namesInQuery(query));
    return this.#json(caller, text, reply);
  };

  readonly get: Handler = async (request, reply) => {
    const query = requireParameters(this.#parameters, request.url);
    const read = { ...parseRow(this.#resource, query), id: request.params.id, conditions: [] };
    const caller = this.#options.callerOf(request);
    const text = await this.#options.engine.get(caller, read);
    const tag = entityTag(this.#resource, text);
    requireMatch(request.headers, tag);
    reply.header("ETag", tag);
    if (this.#hasDeprecatedFields) this.#announceFields(reply, namesInQuery(query));
    if (isUnchanged(request.headers, tag)) return reply.code(304).send();
    // The address of a file changes with time, so it is not part of the entity tag.
    return this.#json(caller, showFiles(read.selection, text, this.#options.fileUrl), reply);
  };

  readonly create: Handler = async (request, reply, writes = this.#options.engine) => {
    requireParameters(this.#parameters, request.url);
    const { callerOf } = this.#options;
    const caller = callerOf(request);
    const body = currentBody(this.#resource, request.body);
    const row = await this.#written(writes.create(caller, this.#current, body, request.params.parentId));
    reply.code(201).header("Location", `${this.#path}/${row.id}`);
    return this.#row(caller, request, reply, row);
  };

  readonly replace: Handler = async (request, reply) => {
    requireParameters(this.#parameters, request.url);
    const { callerOf, engine } = this.#options;
    const precondition = writePrecondition(this.#resource, request.headers);
    const caller = callerOf(request);
    const body = currentBody(this.#resource, request.body);
    const kept = missingIn(this.#resource);
    const row = await this.#written(
      engine.replace(caller, this.#current, request.params.id, body, precondition, kept),
    );
    return this.#row(caller, request, reply, row);
  };

  readonly update: Handler = async (request, reply, writes = this.#options.engine) => {
    requireParameters(this.#parameters, request.url);
    const { callerOf } = this.#options;
    const precondition = writePrecondition(this.#resource, request.headers);
    const caller = callerOf(request);
    const body = currentBody(this.#resource, request.body);
    const row = await this.#written(
      writes.update(caller, this.#current, request.params.id, body, precondition),
    );
    return this.#row(caller, request, reply, row);
  };

  readonly delete: Handler = async (request, reply) => {
    requireParameters(this.#parameters, request.url);
    const { callerOf, engine } = this.#options;
    const precondition = writePrecondition(this.#resource, request.headers);
    await this.#written(engine.delete(callerOf(request), this.#current, request.params.id, precondition));
    return reply.code(204).send();
  };

  readonly deleteAll: Handler = async (request, reply) => {
    requireParameters(this.#parameters, request.url);
    const { callerOf, engine } = this.#options;
    // Operations of this kind are those of nested collections.
    await engine.deleteAll(callerOf(request), this.#current, this.#containerOf(request)!);
    return reply.code(204).send();
  };

  readonly action: Handler = async (request, reply, writes = this.#options.engine) => {
    requireParameters(this.#parameters, request.url);
    const { callerOf } = this.#options;
    const caller = callerOf(request);
    // Operations of this kind have an action.
    const action = this.#operation.action!;
    const { id } = request.params;
    const row = await this.#written(writes.runAction(caller, this.#current, id, action, request.body));
    reply.code(201).header("Location", `${this.#path}/${row.id}`);
    return this.#json(caller, this.#responseText(row), reply);
  };

  readonly collectionAction: Handler = async (request, reply, writes = this.#options.engine) => {
    requireParameters(this.#parameters, request.url);
    const caller = this.#options.callerOf(request);
    // Operations of this kind have such an action.
    const action = this.#operation.collectionAction!;
    const { parentId } = request.params;
    const text = await writes.runCollectionAction(caller, this.#current, action, request.body, parentId);
    return this.#json(caller, text, reply);
  };

  readonly report: Handler = async (request, reply) => {
    const query = requireParameters(this.#parameters, request.url);
    const parameters = Object.fromEntries([...query].map(([name, values]) => [name, values[0]!]));
    const caller = this.#options.callerOf(request);
    const read = this.#options.reports[this.#operation.report!]!;
    const data = await read(caller, request.params.id, parameters);
    const text = JSON.stringify({ data, pagination: { nextCursor: null, hasMore: false } });
    return this.#json(caller, text, reply);
  };

  #containerOf({ params }: RowRequest): Container | undefined {
    const { container } = this.#operation;
    return container && { by: container, id: params.parentId ?? params.id };
  }

  #row(
    caller: Caller,
    request: RowRequest,
    reply: FastifyReply,
    result: WriteResult,
  ): string | Promise<string> {
    if (this.#hasDeprecatedFields) this.#announceFields(reply, Object.keys(request.body ?? {}));
    reply.header("ETag", entityTag(this.#resource, rowIn(this.#resource, result.text)));
    return this.#json(caller, this.#responseText(result), reply);
  }

  #responseText({ text, returnedOnce }: WriteResult): string {
    const shown = withMembers(rowIn(this.#resource, text), returnedOnce);
    return showFiles(wholeRow(this.#resource), shown, this.#options.fileUrl);
  }

  /** A write by the engine, whose errors have the names of the version. */
  #written<T>(write: Promise<T>): Promise<T> {
    if (!this.#resource.current) return write;
    return write.catch((error: unknown) => {
      throw errorIn(this.#resource, error);
    });
  }

  /** The response, once its size is charged. */
  #json(caller: Caller, text: string, reply: FastifyReply): string | Promise<string> {
    reply.header("Content-Type", jsonType);
    const tokens = tokensOf(text);
    if (tokens === 0) return text;
    const setHeaders: SetQuotaHeaders = (headers) => void reply.headers(headers);
    return this.#options.chargeResponse(caller, tokens, setHeaders).then(() => text);
  }

  /** Announces the deprecated fields that a request names. Without any, a hook announces the operation. */
  #announceFields(reply: FastifyReply, named: Iterable<string>): void {
    announceDeprecation(reply, [...fieldDeprecations(this.#resource, named), this.#operation.deprecated]);
  }
}

/** The row, followed by the members that only this response has. */
function withMembers(text: string, returnedOnce: WriteResult["returnedOnce"] | undefined): string {
  const more = JSON.stringify(returnedOnce ?? {});
  return more === "{}" ? text : `${text.slice(0, -1)},${more.slice(1)}`;
}
