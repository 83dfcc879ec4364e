// REST: paths and query strings become plans, rows become answers.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";
import type { WriteResult } from "../engine/write-transaction.ts";
import { originForm } from "../lib/origin-form.ts";
import type { ActionModel, ResourceModel } from "../model/model.ts";
import { tokensOf } from "../query/answer-size.ts";
import { parseQuery } from "../query/query-string.ts";
import type { Container } from "../query/read.ts";
import type { KeyUsage } from "../usage/key-usage.ts";
import { entityTag, isUnchanged, requireMatch, writePrecondition } from "./conditional.ts";
import { deprecationHeaders, namesInQuery } from "./deprecation.ts";
import { envelope } from "./envelope.ts";
import { registerKeyUsage } from "./key-usage.ts";
import { parseList, parseOne, refuseParameters } from "./parse-list.ts";

export interface RestOptions {
  readonly engine: Engine;
  readonly keyUsage: KeyUsage;
  /** What stands before every path of a link, where the server is reached below a folder: `/api`. */
  readonly basePath: string;
  readonly callerOf: (request: FastifyRequest) => Caller;
  /** Takes tokens of a caller's quota for an answer, beside the one that every request takes. */
  readonly chargeAnswer: (caller: Caller, tokens: number, setHeaders: TellHeaders) => Promise<void>;
}

type TellHeaders = (headers: Readonly<Record<string, string>>) => void;

type Params = { readonly id: string; readonly parentId?: string };
type Request = FastifyRequest<{ Params: Params }>;

export function registerRest(server: FastifyInstance, options: RestOptions): void {
  for (const resource of options.engine.model.resources.filter((each) => each.isExposed)) {
    for (const version of versionsOf(options, resource)) {
      const collection = `${version}${collectionPath(resource)}`;
      const item = `${version}/${resource.segment}/:id`;
      const handle = new ResourceHandlers(
        options,
        resource,
        `${options.basePath}${version}/${resource.segment}`,
      );
      const { operations } = resource;
      if (operations.has("list")) server.get(collection, handle.list);
      if (operations.has("create")) server.post(collection, handle.create);
      if (operations.has("get")) server.get(item, handle.get);
      if (operations.has("replace")) server.put(item, handle.replace);
      if (operations.has("update")) server.patch(item, handle.update);
      if (operations.has("delete")) server.delete(item, handle.delete);
      for (const [segment, action] of resource.actions) {
        server.post(`${item}/${segment}`, { config: { needsNoBody: true } }, handle.runAction(action));
      }
      for (const by of resource.nestedUnder) {
        const container = `${version}/${by === "tenant" ? "tenants" : by.reference!.target.segment}`;
        server.get(`${container}/:id/${resource.segment}`, handle.listNested(by));
        server.delete(`${container}/:id/${resource.segment}`, handle.deleteNested(by));
      }
    }
  }
  registerKeyUsage(server, options, versionsOf(options, options.keyUsage.keys));
}

/** A resource stands under its version; without a version in the path, the current one is meant. */
function versionsOf({ engine }: RestOptions, { version }: ResourceModel): string[] {
  return version === engine.model.version ? ["", `/${version}`] : [`/${version}`];
}

function collectionPath({ segment, parent }: ResourceModel): string {
  return parent ? `/${parent.reference!.target.segment}/:parentId/${segment}` : `/${segment}`;
}

const jsonType = "application/json; charset=utf-8";

/**
 * The body, or the reply where there is none. Not always the reply: to a promise it is another one to wait for,
 * for which Fastify listens to the socket.
 */
type Response = Promise<string | FastifyReply>;

/** The row, with what only this answer shows at its end. */
function responseText({ text, returnedOnce }: WriteResult): string {
  const more = JSON.stringify(returnedOnce ?? {});
  return more === "{}" ? text : `${text.slice(0, -1)},${more.slice(1)}`;
}

class ResourceHandlers {
  readonly #options: RestOptions;
  readonly #resource: ResourceModel;
  readonly #path: string;
  readonly #mayBeDeprecated: boolean;

  constructor(options: RestOptions, resource: ResourceModel, path: string) {
    this.#options = options;
    this.#resource = resource;
    this.#path = path;
    this.#mayBeDeprecated =
      resource.deprecated !== undefined || resource.attributes.some((attribute) => attribute.deprecated);
  }

  list = (request: Request, reply: FastifyReply): Response => {
    const { parent } = this.#resource;
    const { parentId } = request.params;
    return this.#list(
      request,
      reply,
      parent && parentId !== undefined ? { by: parent, id: parentId } : undefined,
    );
  };

  /** The list below a row that its rows refer to, or below the tenant. */
  listNested =
    (by: Container["by"]) =>
    (request: Request, reply: FastifyReply): Response =>
      this.#list(request, reply, { by, id: request.params.id });

  async #list(request: Request, reply: FastifyReply, within: Container | undefined): Promise<string> {
    const { engine, basePath, callerOf } = this.#options;
    const caller = callerOf(request);
    const query = parseQuery(request.url);
    const list = parseList(this.#resource, within, query);
    const page = await engine.list(caller, list);
    const { text, link } = envelope(list.page, page, `${basePath}${originForm(request.url)}`);
    if (link !== undefined) reply.header("Link", link);
    if (this.#mayBeDeprecated) this.#setDeprecation(reply, namesInQuery(query));
    reply.header("Content-Type", jsonType);
    return this.#charged(caller, text, reply);
  }

  get = async (request: Request, reply: FastifyReply): Response => {
    const query = parseQuery(request.url);
    const selection = parseOne(this.#resource, query);
    const read = { resource: this.#resource, selection, id: request.params.id, conditions: [] };
    const caller = this.#options.callerOf(request);
    const text = await this.#options.engine.get(caller, read);
    const tag = entityTag(this.#resource, text);
    requireMatch(request.headers, tag);
    reply.header("ETag", tag);
    if (this.#mayBeDeprecated) this.#setDeprecation(reply, namesInQuery(query));
    if (isUnchanged(request.headers, tag)) return reply.code(304).send();
    reply.header("Content-Type", jsonType);
    return this.#charged(caller, text, reply);
  };

  create = async (request: Request, reply: FastifyReply): Response => {
    refuseParameters(parseQuery(request.url));
    const caller = this.#options.callerOf(request);
    const row = await this.#options.engine.create(
      caller,
      this.#resource,
      request.body,
      request.params.parentId,
    );
    reply.code(201).header("Location", `${this.#path}/${row.id}`);
    return this.#row(caller, request, reply, row);
  };

  replace = async (request: Request, reply: FastifyReply): Response => {
    refuseParameters(parseQuery(request.url));
    const { id } = request.params;
    const precondition = writePrecondition(this.#resource, request.headers);
    const caller = this.#options.callerOf(request);
    const row = await this.#options.engine.replace(caller, this.#resource, id, request.body, precondition);
    return this.#row(caller, request, reply, row);
  };

  update = async (request: Request, reply: FastifyReply): Response => {
    refuseParameters(parseQuery(request.url));
    const { id } = request.params;
    const precondition = writePrecondition(this.#resource, request.headers);
    const caller = this.#options.callerOf(request);
    const row = await this.#options.engine.update(caller, this.#resource, id, request.body, precondition);
    return this.#row(caller, request, reply, row);
  };

  delete = async (request: Request, reply: FastifyReply): Response => {
    refuseParameters(parseQuery(request.url));
    const precondition = writePrecondition(this.#resource, request.headers);
    const caller = this.#options.callerOf(request);
    await this.#options.engine.delete(caller, this.#resource, request.params.id, precondition);
    if (this.#mayBeDeprecated) this.#setDeprecation(reply, []);
    return reply.code(204).send();
  };

  deleteNested =
    (by: Container["by"]) =>
    async (request: Request, reply: FastifyReply): Response => {
      refuseParameters(parseQuery(request.url));
      const caller = this.#options.callerOf(request);
      await this.#options.engine.deleteAll(caller, this.#resource, { by, id: request.params.id });
      if (this.#mayBeDeprecated) this.#setDeprecation(reply, []);
      return reply.code(204).send();
    };

  runAction =
    (action: ActionModel) =>
    async (request: Request, reply: FastifyReply): Response => {
      refuseParameters(parseQuery(request.url));
      const caller = this.#options.callerOf(request);
      const { id } = request.params;
      const row = await this.#options.engine.runAction(caller, this.#resource, id, action, request.body);
      reply.code(201).header("Location", `${this.#path}/${row.id}`).header("Content-Type", jsonType);
      if (this.#mayBeDeprecated) this.#setDeprecation(reply, []);
      return this.#charged(caller, responseText(row), reply);
    };

  /** The answer, once its size is charged. */
  #charged(caller: Caller, text: string, reply: FastifyReply): string | Promise<string> {
    const tokens = tokensOf(text);
    if (tokens === 0) return text;
    const setHeaders: TellHeaders = (headers) => void reply.headers(headers);
    return this.#options.chargeAnswer(caller, tokens, setHeaders).then(() => text);
  }

  #row(caller: Caller, request: Request, reply: FastifyReply, result: WriteResult): string | Promise<string> {
    if (this.#mayBeDeprecated) this.#setDeprecation(reply, Object.keys(request.body ?? {}));
    reply.header("ETag", entityTag(this.#resource, result.text)).header("Content-Type", jsonType);
    return this.#charged(caller, responseText(result), reply);
  }

  #setDeprecation(reply: FastifyReply, named: Iterable<string>): void {
    reply.headers({ ...deprecationHeaders(this.#resource, named) });
  }
}
