// The REST door: paths and query strings become plans, rows become answers.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import type { ActionModel, ResourceModel } from "../declare/model.ts";
import type { Above } from "../engine/above.ts";
import type { Engine } from "../engine/engine.ts";
import type { Written } from "../engine/writing.ts";
import { tokensOf } from "../plan/answer-size.ts";
import type { CursorCodec } from "../plan/cursor.ts";
import { originForm } from "../plan/origin-form.ts";
import { parseQuery } from "../plan/query.ts";
import { entityTag, isUnchanged, requireMatch, writePrecondition } from "./conditional.ts";
import { deprecationHeaders, namesInQuery } from "./deprecation.ts";
import { envelope } from "./envelope.ts";
import { registerKeyUsage } from "./key-usage.ts";
import { parseList, parseOne, refuseParameters } from "./parse-list.ts";

export interface RestDoor {
  readonly engine: Engine;
  readonly cursors: CursorCodec;
  /** What stands before every path of a link, where the server is reached below a folder: `/api`. */
  readonly basePath: string;
  readonly callerOf: (request: FastifyRequest) => Caller;
  /** Takes tokens of a caller's quota for an answer, beside the one that every request takes. */
  readonly chargeAnswer: (caller: Caller, tokens: number, tell: TellHeaders) => Promise<void>;
}

type TellHeaders = (headers: Readonly<Record<string, string>>) => void;

type Params = { readonly id: string; readonly parentId?: string };
type Request = FastifyRequest<{ Params: Params }>;

export function registerRest(server: FastifyInstance, door: RestDoor): void {
  for (const resource of door.engine.model.resources.filter((each) => each.isServed)) {
    for (const version of versionsOf(door, resource)) {
      const collection = `${version}${collectionPath(resource)}`;
      const item = `${version}/${resource.segment}/:id`;
      const handle = new ResourceHandlers(door, resource, `${door.basePath}${version}/${resource.segment}`);
      const { operations } = resource;
      if (operations.has("list")) server.get(collection, handle.list);
      if (operations.has("create")) server.post(collection, handle.create);
      if (operations.has("get")) server.get(item, handle.get);
      if (operations.has("replace")) server.put(item, handle.replace);
      if (operations.has("change")) server.patch(item, handle.change);
      if (operations.has("remove")) server.delete(item, handle.remove);
      for (const [segment, action] of resource.actions) {
        server.post(`${item}/${segment}`, { config: { needsNoBody: true } }, handle.act(action));
      }
      for (const by of resource.alsoUnder) {
        const above = `${version}/${by === "tenant" ? "tenants" : by.reference!.target.segment}`;
        server.get(`${above}/:id/${resource.segment}`, handle.listUnder(by));
        server.delete(`${above}/:id/${resource.segment}`, handle.removeUnder(by));
      }
    }
  }
  registerKeyUsage(server, door, versionsOf(door, door.engine.keyUsage.keys));
}

/** A resource stands under its version; without a version in the path, the current one is meant. */
function versionsOf({ engine }: RestDoor, { version }: ResourceModel): string[] {
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
type Answer = Promise<string | FastifyReply>;

/** The row, with what only this answer shows at its end. */
function answerText({ text, revealed }: Written): string {
  const more = JSON.stringify(revealed ?? {});
  return more === "{}" ? text : `${text.slice(0, -1)},${more.slice(1)}`;
}

class ResourceHandlers {
  readonly #door: RestDoor;
  readonly #resource: ResourceModel;
  readonly #path: string;
  readonly #mayBeDeprecated: boolean;

  constructor(door: RestDoor, resource: ResourceModel, path: string) {
    this.#door = door;
    this.#resource = resource;
    this.#path = path;
    this.#mayBeDeprecated =
      resource.deprecated !== undefined || resource.attributes.some((attribute) => attribute.deprecated);
  }

  list = (request: Request, reply: FastifyReply): Answer => this.#list(request, reply);

  /** The list below a row that its rows refer to, or below the tenant. */
  listUnder =
    (by: Above["by"]) =>
    (request: Request, reply: FastifyReply): Answer =>
      this.#list(request, reply, { by, id: request.params.id });

  async #list(request: Request, reply: FastifyReply, above?: Above): Promise<string> {
    const { engine, cursors, basePath, callerOf } = this.#door;
    const caller = callerOf(request);
    const query = parseQuery(request.url);
    const { parentId } = request.params;
    const target = { resource: this.#resource, tenantId: caller.tenantId, parentId, above };
    const list = parseList(target, query, cursors);
    const page = await engine.list(caller, list.read, above);
    const { text, link } = envelope(list, page, cursors, `${basePath}${originForm(request.url)}`);
    if (link !== undefined) reply.header("Link", link);
    if (this.#mayBeDeprecated) this.#announce(reply, namesInQuery(query));
    reply.header("Content-Type", jsonType);
    return this.#charged(caller, text, reply);
  }

  get = async (request: Request, reply: FastifyReply): Answer => {
    const query = parseQuery(request.url);
    const selection = parseOne(this.#resource, query);
    const read = { resource: this.#resource, selection, id: request.params.id, conditions: [] };
    const caller = this.#door.callerOf(request);
    const text = await this.#door.engine.get(caller, read);
    const tag = entityTag(this.#resource, text);
    requireMatch(request.headers, tag);
    reply.header("ETag", tag);
    if (this.#mayBeDeprecated) this.#announce(reply, namesInQuery(query));
    if (isUnchanged(request.headers, tag)) return reply.code(304).send();
    reply.header("Content-Type", jsonType);
    return this.#charged(caller, text, reply);
  };

  create = async (request: Request, reply: FastifyReply): Answer => {
    refuseParameters(parseQuery(request.url));
    const caller = this.#door.callerOf(request);
    const row = await this.#door.engine.create(caller, this.#resource, request.body, request.params.parentId);
    reply.code(201).header("Location", `${this.#path}/${row.id}`);
    return this.#row(caller, request, reply, row);
  };

  replace = async (request: Request, reply: FastifyReply): Answer => {
    refuseParameters(parseQuery(request.url));
    const { id } = request.params;
    const precondition = writePrecondition(this.#resource, request.headers);
    const caller = this.#door.callerOf(request);
    const row = await this.#door.engine.replace(caller, this.#resource, id, request.body, precondition);
    return this.#row(caller, request, reply, row);
  };

  change = async (request: Request, reply: FastifyReply): Answer => {
    refuseParameters(parseQuery(request.url));
    const { id } = request.params;
    const precondition = writePrecondition(this.#resource, request.headers);
    const caller = this.#door.callerOf(request);
    const row = await this.#door.engine.change(caller, this.#resource, id, request.body, precondition);
    return this.#row(caller, request, reply, row);
  };

  remove = async (request: Request, reply: FastifyReply): Answer => {
    refuseParameters(parseQuery(request.url));
    const precondition = writePrecondition(this.#resource, request.headers);
    const caller = this.#door.callerOf(request);
    await this.#door.engine.remove(caller, this.#resource, request.params.id, precondition);
    if (this.#mayBeDeprecated) this.#announce(reply, []);
    return reply.code(204).send();
  };

  removeUnder =
    (by: Above["by"]) =>
    async (request: Request, reply: FastifyReply): Answer => {
      refuseParameters(parseQuery(request.url));
      const caller = this.#door.callerOf(request);
      await this.#door.engine.removeAll(caller, this.#resource, { by, id: request.params.id });
      if (this.#mayBeDeprecated) this.#announce(reply, []);
      return reply.code(204).send();
    };

  act =
    (action: ActionModel) =>
    async (request: Request, reply: FastifyReply): Answer => {
      refuseParameters(parseQuery(request.url));
      const caller = this.#door.callerOf(request);
      const { id } = request.params;
      const row = await this.#door.engine.act(caller, this.#resource, id, action, request.body);
      reply.code(201).header("Location", `${this.#path}/${row.id}`).header("Content-Type", jsonType);
      if (this.#mayBeDeprecated) this.#announce(reply, []);
      return this.#charged(caller, answerText(row), reply);
    };

  /** The answer, once its size is charged. */
  #charged(caller: Caller, text: string, reply: FastifyReply): string | Promise<string> {
    const tokens = tokensOf(text);
    if (tokens === 0) return text;
    const tell: TellHeaders = (headers) => void reply.headers(headers);
    return this.#door.chargeAnswer(caller, tokens, tell).then(() => text);
  }

  #row(caller: Caller, request: Request, reply: FastifyReply, written: Written): string | Promise<string> {
    if (this.#mayBeDeprecated) this.#announce(reply, Object.keys(request.body ?? {}));
    reply.header("ETag", entityTag(this.#resource, written.text)).header("Content-Type", jsonType);
    return this.#charged(caller, answerText(written), reply);
  }

  #announce(reply: FastifyReply, named: Iterable<string>): void {
    reply.headers({ ...deprecationHeaders(this.#resource, named) });
  }
}
