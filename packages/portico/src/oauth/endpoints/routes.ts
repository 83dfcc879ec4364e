// The routes of OAuth: every path of the authorization server, below AUTH_URL.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { hasDuplicateAuthorization } from "../../auth/presented-credential.ts";
import { Problem } from "../../errors.ts";
import type { ClientAddressReader } from "../../net/client-address.ts";
import { requireUncompressed } from "../../net/content-encoding.ts";
import type { AuthorizationServer, RunningProvider } from "../authorization-server.ts";
import type { PageHandler } from "../interaction/page-request.ts";
import { PasskeyChallenges } from "../interaction/passkey-challenge.ts";
import { pageHeaders } from "../pages/layout.ts";
import { routes } from "../provider/configuration.ts";
import {
  describeOAuthError,
  renderErrorPage,
  sendOAuthError,
  sendTooManyRequests,
  sendUnexpectedError,
} from "../provider/failure.ts";
import { mountedRequest } from "../provider/mounted-request.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";
import { deriveSecrets } from "./issuer.ts";
import { formText, requireParameters, requireUtf8 } from "./parameters.ts";
import { resourceMetadataPath } from "./resource-metadata.ts";

export interface OAuthOptions {
  readonly server: AuthorizationServer;
  /** The path of AUTH_URL as requests arrive. */
  readonly mount: string;
  /** The paths of AUTH_URL and PUBLIC_URL as callers know them. */
  readonly issuerPath: string;
  readonly resourcePath: string;
  /** Where a request comes from. */
  readonly addressOf: ClientAddressReader;
}

const bodyLimitBytes = 48 * 1024;

/** A call of an endpoint, once the library that answers it is there. */
interface OAuthCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly running: RunningProvider;
  readonly target: string;
  readonly isPage: boolean;
  readonly address: string;
}

export async function registerOAuth(server: FastifyInstance, options: OAuthOptions): Promise<void> {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit: bodyLimitBytes },
    async ({ headers }: FastifyRequest, body: Buffer) => {
      requireUncompressed(headers["content-encoding"]);
      return body;
    },
  );
  server.setErrorHandler(sendOAuthError);
  for (const endpoint of endpoints)
    register(server, options, endpoint, `${options.mount}${endpoint.path}`, "");
  registerMetadataOutside(server, options);
  registerResourceMetadata(server, options);
}

/**
 * For an issuer with a path, its metadata stand beside it as well (RFC 8414, section 3.1): a proxy in front may take
 * a folder of that path away, or pass it on.
 */
function registerMetadataOutside(server: FastifyInstance, options: OAuthOptions): void {
  const paths = new Set([options.mount, options.issuerPath].filter((path) => path !== ""));
  for (const endpoint of endpoints.filter(({ path }) => path.startsWith("/.well-known/")))
    for (const path of paths) register(server, options, endpoint, `${endpoint.path}${path}`, endpoint.path);
}

/** RFC 9728 */
function registerResourceMetadata(
  server: FastifyInstance,
  { server: { dependencies }, resourcePath }: OAuthOptions,
): void {
  const tell = async (_request: FastifyRequest, reply: FastifyReply) => {
    const { issuer, resource } = await dependencies.urls;
    reply.header("Access-Control-Allow-Origin", "*");
    return {
      resource,
      authorization_servers: [issuer],
      scopes_supported: dependencies.scopes,
      bearer_methods_supported: ["header"],
      resource_name: dependencies.brand.name,
    };
  };
  for (const path of new Set(["", resourcePath])) server.get(`${resourceMetadataPath}${path}`, tell);
}

function register(
  server: FastifyInstance,
  options: OAuthOptions,
  endpoint: Endpoint,
  url: string,
  target: string,
): void {
  const { methods, isPage = false, prepare, handle } = endpoint;
  server.route({
    method: [...methods],
    url,
    config: { ignoresAccept: true, hasOwnCors: true, describeError: describeOAuthError },
    ...(isPage && {
      // handled: Fastify awaits what an error handler returns.
      errorHandler: async (error, request, reply) => {
        const { issuer } = await options.server.running();
        return renderErrorPage(issuer, error, request, reply);
      },
    }),
    handler: async (request, reply) => {
      if (request.method === "OPTIONS" && !isPreflight(request)) return sendAllowedMethods(reply, methods);
      const running = await options.server.running();
      if (!isPage) requireUncompressedBody(request);
      const search = searchOf(request);
      requireDeclared(request, search);
      // Not as it was sent: the router also takes other spellings of a path, such as `/%6Fauth`.
      const path = target || pathOf(endpoint.path, request.params);
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders()))
        reply.raw.setHeader(name, value as string);
      const address = options.addressOf(request.raw);
      const call = { request, reply, running, target: `${path}${search}`, isPage, address };
      try {
        const seconds = await secondsToWait(options, endpoint, request, address);
        if (seconds > 0) return sendTooManyRequests(call, seconds);
        await (handle ? sendPageResponse(options, call, handle) : forwardToProvider(call, prepare));
      } catch (error) {
        sendUnexpectedError(error, call);
      }
      return reply;
    },
  });
}

/** The query of a request, with its question mark; empty where there is none. */
function searchOf({ url }: FastifyRequest): string {
  const query = url.indexOf("?");
  return query < 0 ? "" : url.slice(query);
}

/** @throws Problem `malformed_request` for a query or form that holds what no parameter may */
function requireDeclared({ headers, body }: FastifyRequest, search: string): void {
  requireParameters(search.slice(1));
  if (!Buffer.isBuffer(body)) return;
  requireUtf8(headers["content-type"]);
  requireParameters(formText(body));
}

/** What the library calls a request for authorization: the only part of a path that varies. */
const uidForm = /^[\w-]{1,64}$/;

/** The path of an endpoint below the issuer. @throws Problem `not_found` */
function pathOf(path: string, params: unknown): string {
  if (!path.includes(":")) return path;
  const { uid = "" } = params as { readonly uid?: string };
  if (!uidForm.test(uid)) throw new Problem("not_found", "There is no such page.");
  return path.replace(":uid", uid);
}

/** Whether a browser asks what a page of another site may do (Fetch, section 3.2.2). */
function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

/** A client shows who it is once. @throws Problem `malformed_request` */
function requireUncompressedBody({ raw }: FastifyRequest): void {
  if (hasDuplicateAuthorization(raw.rawHeaders))
    throw new Problem("malformed_request", "Send the header Authorization once.");
}

function sendAllowedMethods(reply: FastifyReply, methods: Endpoint["methods"]): FastifyReply {
  const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return reply.code(204).header("Allow", allowed.join(", ")).send();
}

/** Of the codes of devices, guesses and looks at the page are counted apart. */
async function secondsToWait(
  { server }: OAuthOptions,
  { path, quota, limitsUserCodes }: Endpoint,
  { method }: FastifyRequest,
  address: string,
): Promise<number> {
  const { bruteForce } = server.dependencies;
  if (limitsUserCodes && method === "POST") return bruteForce.secondsToWaitForCode(address);
  return quota ? bruteForce.secondsToWaitAt(path, address, quota) : 0;
}

async function forwardToProvider(
  { request, reply, running, target, isPage, address }: OAuthCall,
  prepare?: Endpoint["prepare"],
): Promise<void> {
  const { issuer, handle } = running;
  if (isPage)
    for (const [name, value] of Object.entries(pageHeaders(issuer))) reply.raw.setHeader(name, value);
  const { rest, presentedCode } = withoutUserCode(preparedTarget(target, prepare));
  const mounted = mountedRequest(request, {
    ...{ issuer, address, isPage },
    target: rest,
    body: bodyOf(request, prepare),
  });
  await handle(presentedCode === undefined ? mounted : Object.assign(mounted, { presentedCode }), reply.raw);
}

function preparedTarget(target: string, prepare: Endpoint["prepare"]): string {
  const query = target.indexOf("?");
  if (!prepare || query < 0) return target;
  const parameters = new URLSearchParams(target.slice(query));
  return prepare(parameters) ? `${target.slice(0, query)}?${parameters}` : target;
}

/** The library would send the code on with a script; here it is filled in, and the person looks at it. */
function withoutUserCode(target: string): { readonly rest: string; readonly presentedCode?: string } {
  if (!target.startsWith(`${routes.code_verification}?`)) return { rest: target };
  const userCode = new URLSearchParams(target.slice(target.indexOf("?"))).get("user_code");
  return {
    rest: routes.code_verification,
    ...(userCode !== null && { presentedCode: userCode.slice(0, 20) }),
  };
}

function bodyOf({ body }: FastifyRequest, prepare: Endpoint["prepare"]): string | Buffer | undefined {
  if (!Buffer.isBuffer(body)) return undefined;
  if (!prepare) return body;
  const form = new URLSearchParams(body.toString());
  return prepare(form) ? form.toString() : body;
}

async function sendPageResponse(
  { server: { dependencies } }: OAuthOptions,
  call: OAuthCall,
  handle: PageHandler,
): Promise<void> {
  const { request, reply, running, target, address } = call;
  const { issuer } = running;
  const query = target.indexOf("?");
  const csrfKey = deriveSecrets(dependencies.secrets, "csrf")[0]!;
  await handle(
    {
      ...dependencies,
      ...running,
      csrfKey,
      challenges: new PasskeyChallenges(csrfKey, dependencies.records),
    },
    {
      // The request as the library sees it, without the body, which is read here.
      request: mountedRequest(request, { issuer, address, target, isPage: true }),
      response: reply.raw,
      form: formOf(request),
      query: new URLSearchParams(query < 0 ? "" : target.slice(query)),
      address,
    },
  );
}

/** The fields of a form that is sent; undefined where a page is only looked at. */
function formOf({ method, body }: FastifyRequest): URLSearchParams | undefined {
  if (method !== "POST") return undefined;
  return new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : "");
}
