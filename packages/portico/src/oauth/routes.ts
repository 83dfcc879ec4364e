// The OAuth door: every path of the authorization server, below AUTH_URL.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Quota } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import { isAuthorizedTwice } from "../identity/presented-credential.ts";
import { requirePlain } from "../limits/plain-body.ts";
import { tokenMark } from "./adapter.ts";
import type { AuthorizationServer, Running } from "./authorization-server.ts";
import { resourceMetadataPath } from "./challenge.ts";
import { routes } from "./configuration.ts";
import { type Exchange, type PageHandler, type PageParts, seeOther, show, showFile } from "./exchange.ts";
import { answerBroken, answerOAuthError, answerTooMany, describeOAuthError, pageOfError } from "./failure.ts";
import { showGrants } from "./grants.ts";
import { interact } from "./interaction.ts";
import { askForPassword, choosePassword, confirmEmail, showAccount } from "./mailed-links.ts";
import { mountedRequest, originForm } from "./mounted-request.ts";
import { logoPath, pageHeaders } from "./pages/layout.ts";
import { passkeyScript, scriptPath } from "./pages/passkey-form.ts";
import { errorPage } from "./pages/plain-pages.ts";
import { PasskeyChallenges } from "./passkey-challenge.ts";
import { showPasskeys } from "./passkeys.ts";
import { showSessions } from "./sessions.ts";
import { derived } from "./site.ts";

export interface OAuthDoor {
  readonly server: AuthorizationServer;
  /** The path of AUTH_URL as requests arrive. */
  readonly mount: string;
  /** The paths of AUTH_URL and PUBLIC_URL as callers know them. */
  readonly issuerPath: string;
  readonly resourcePath: string;
}

const bodyLimitBytes = 48 * 1024;

interface Endpoint {
  readonly path: string;
  readonly methods: readonly ("GET" | "POST" | "OPTIONS")[];
  /** For people: answers are HTML, errors too. */
  readonly isPage?: boolean;
  /** What is done to the parameters before the library reads them: false where they stay as they are. */
  readonly prepare?: (parameters: URLSearchParams) => boolean;
  /** What each address may do here: a request leaves a row behind, or is a guess. */
  readonly quota?: Quota;
  /** Forms that are sent here hold the codes of devices. */
  readonly takesCodes?: boolean;
  /** Pages of ours; the library answers the rest. */
  readonly handle?: PageHandler;
}

const ofRequests: Quota = { limit: 300, windowSeconds: 60 };

const endpoints: readonly Endpoint[] = [
  {
    path: routes.authorization,
    methods: ["GET"],
    isPage: true,
    prepare: prepareAuthorization,
    quota: ofRequests,
  },
  { path: routes.authorization, methods: ["POST"], isPage: true, quota: ofRequests, handle: askAgainByGet },
  { path: `${routes.authorization}/:uid`, methods: ["GET"], isPage: true, quota: ofRequests },
  { path: "/interaction/:uid", methods: ["GET", "POST"], isPage: true, handle: interact },
  { path: "/interaction/:uid/password", methods: ["GET", "POST"], isPage: true, handle: askForPassword },
  { path: "/password", methods: ["GET", "POST"], isPage: true, quota: ofRequests, handle: choosePassword },
  { path: "/email", methods: ["GET", "POST"], isPage: true, quota: ofRequests, handle: confirmEmail },
  { path: "/account", methods: ["GET", "POST"], isPage: true, handle: showAccount },
  { path: "/grants", methods: ["GET", "POST"], isPage: true, handle: showGrants },
  { path: "/sessions", methods: ["GET", "POST"], isPage: true, handle: showSessions },
  { path: "/passkeys", methods: ["GET", "POST"], isPage: true, handle: showPasskeys },
  { path: logoPath, methods: ["GET"], isPage: true, handle: showLogo },
  { path: scriptPath, methods: ["GET"], isPage: true, handle: showScript },
  { path: routes.end_session, methods: ["GET"], isPage: true, quota: ofRequests },
  { path: routes.end_session, methods: ["POST"], isPage: true, quota: ofRequests, handle: askAgainByGet },
  { path: `${routes.end_session}/confirm`, methods: ["POST"], isPage: true, quota: ofRequests },
  { path: `${routes.end_session}/success`, methods: ["GET"], isPage: true },
  {
    path: routes.code_verification,
    methods: ["GET", "POST"],
    isPage: true,
    quota: ofRequests,
    takesCodes: true,
  },
  { path: `${routes.code_verification}/:uid`, methods: ["GET"], isPage: true, quota: ofRequests },
  { path: routes.device_authorization, methods: ["POST", "OPTIONS"], quota: ofRequests },
  {
    path: routes.pushed_authorization_request,
    methods: ["POST", "OPTIONS"],
    prepare: prepareAuthorization,
    quota: ofRequests,
  },
  { path: routes.token, methods: ["POST", "OPTIONS"] },
  { path: routes.introspection, methods: ["POST", "OPTIONS"], prepare: markToken },
  { path: routes.revocation, methods: ["POST", "OPTIONS"], prepare: markToken },
  { path: routes.userinfo, methods: ["GET", "POST", "OPTIONS"] },
  { path: routes.jwks, methods: ["GET", "OPTIONS"] },
  { path: "/.well-known/openid-configuration", methods: ["GET", "OPTIONS"] },
  { path: "/.well-known/oauth-authorization-server", methods: ["GET", "OPTIONS"] },
];

/** A call of an endpoint, once the library that answers it is there. */
interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly running: Running;
  readonly target: string;
  readonly isPage: boolean;
}

export async function registerOAuth(server: FastifyInstance, door: OAuthDoor): Promise<void> {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit: bodyLimitBytes },
    async ({ headers }: FastifyRequest, body: Buffer) => {
      requirePlain(headers["content-encoding"]);
      return body;
    },
  );
  server.setErrorHandler(answerOAuthError);
  for (const endpoint of endpoints) register(server, door, endpoint, `${door.mount}${endpoint.path}`, "");
  registerMetadataOutside(server, door);
  registerResourceMetadata(server, door);
}

/**
 * For an issuer with a path, its metadata stand beside it as well (RFC 8414, section 3.1): a proxy in front may take
 * a folder of that path away, or pass it on.
 */
function registerMetadataOutside(server: FastifyInstance, door: OAuthDoor): void {
  const paths = new Set([door.mount, door.issuerPath].filter((path) => path !== ""));
  for (const endpoint of endpoints.filter(({ path }) => path.startsWith("/.well-known/")))
    for (const path of paths) register(server, door, endpoint, `${endpoint.path}${path}`, endpoint.path);
}

/** RFC 9728 */
function registerResourceMetadata(
  server: FastifyInstance,
  { server: { parts }, resourcePath }: OAuthDoor,
): void {
  const tell = async (_request: FastifyRequest, reply: FastifyReply) => {
    const { issuer, resource } = await parts.urls;
    reply.header("Access-Control-Allow-Origin", "*");
    return {
      resource,
      authorization_servers: [issuer],
      scopes_supported: parts.scopes,
      bearer_methods_supported: ["header"],
      resource_name: parts.brand.name,
    };
  };
  for (const path of new Set(["", resourcePath])) server.get(`${resourceMetadataPath}${path}`, tell);
}

function register(
  server: FastifyInstance,
  door: OAuthDoor,
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
      errorHandler: async (error, request, reply) => {
        const { site } = await door.server.running();
        return pageOfError(site, error, request, reply);
      },
    }),
    handler: async (request, reply) => {
      if (request.method === "OPTIONS" && !isPreflight(request)) return tellMethods(reply, methods);
      const running = await door.server.running();
      if (!isPage) requireClear(request);
      const url = originForm(request.url);
      const query = url.indexOf("?");
      const search = query < 0 ? "" : url.slice(query);
      const path = target || url.slice(door.mount.length, query < 0 ? undefined : query);
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders()))
        reply.raw.setHeader(name, value as string);
      const call = { request, reply, running, target: `${path}${search}`, isPage };
      try {
        const seconds = await secondsToWait(door, endpoint, request);
        if (seconds > 0) return answerTooMany(call, seconds);
        await (handle ? answerPage(door, call, handle) : passOn(call, prepare));
      } catch (error) {
        answerBroken(error, call);
      }
      return reply;
    },
  });
}

/** Whether a browser asks what a page of another site may do (Fetch, section 3.2.2). */
function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

/** A client shows who it is once. @throws Problem `malformed_request` */
function requireClear({ raw }: FastifyRequest): void {
  if (isAuthorizedTwice(raw.rawHeaders))
    throw new Problem("malformed_request", "Send the header Authorization once.");
}

function tellMethods(reply: FastifyReply, methods: Endpoint["methods"]): FastifyReply {
  const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return reply.code(204).header("Allow", allowed.join(", ")).send();
}

/** Of the codes of devices, guesses and looks at the page are counted apart. */
async function secondsToWait(
  { server }: OAuthDoor,
  { path, quota, takesCodes }: Endpoint,
  { method, ip = "" }: FastifyRequest,
): Promise<number> {
  const { guesses } = server.parts;
  if (takesCodes && method === "POST") return guesses.secondsToWaitForCode(ip);
  return quota ? guesses.secondsToWaitAt(path, ip, quota) : 0;
}

async function passOn(
  { request, reply, running, target, isPage }: Call,
  prepare?: Endpoint["prepare"],
): Promise<void> {
  const { site, handle } = running;
  if (isPage) for (const [name, value] of Object.entries(pageHeaders(site))) reply.raw.setHeader(name, value);
  const { rest, givenCode } = withoutCode(preparedTarget(target, prepare));
  const mounted = mountedRequest(request, { site, target: rest, isPage, body: bodyOf(request, prepare) });
  await handle(givenCode === undefined ? mounted : Object.assign(mounted, { givenCode }), reply.raw);
}

function preparedTarget(target: string, prepare: Endpoint["prepare"]): string {
  const query = target.indexOf("?");
  if (!prepare || query < 0) return target;
  const parameters = new URLSearchParams(target.slice(query));
  return prepare(parameters) ? `${target.slice(0, query)}?${parameters}` : target;
}

/** The library would send the code on with a script; here it is filled in, and the person looks at it. */
function withoutCode(target: string): { readonly rest: string; readonly givenCode?: string } {
  if (!target.startsWith(`${routes.code_verification}?`)) return { rest: target };
  const given = new URLSearchParams(target.slice(target.indexOf("?"))).get("user_code");
  return { rest: routes.code_verification, ...(given !== null && { givenCode: given.slice(0, 20) }) };
}

function bodyOf({ body }: FastifyRequest, prepare: Endpoint["prepare"]): string | Buffer | undefined {
  if (!Buffer.isBuffer(body)) return undefined;
  if (!prepare) return body;
  const form = new URLSearchParams(body.toString());
  return prepare(form) ? form.toString() : body;
}

/** The library knows opaque tokens only: a JSON Web Token is marked, and the adapter looks into it. */
function markToken(form: URLSearchParams): boolean {
  const [token, ...more] = form.getAll("token");
  if (!token?.startsWith("eyJ") || more.length > 0) return false;
  form.set("token", `${tokenMark}${token}`);
  return true;
}

/** What people of `/authorize` would otherwise meet: a silent refusal, and a page that works with a script only. */
function prepareAuthorization(parameters: URLSearchParams): boolean {
  const isFormPost = parameters.get("response_mode") === "form_post";
  if (isFormPost) parameters.set("response_mode", "not_offered");
  // Without it, offline access is dropped without a word (OpenID Connect Core, section 11).
  const isOffline = parameters.get("scope")?.split(" ").includes("offline_access") ?? false;
  const prompts = (parameters.get("prompt") ?? "").split(" ").filter((each) => each !== "");
  const isUnasked = isOffline && !prompts.includes("consent") && !prompts.includes("none");
  if (isUnasked) parameters.set("prompt", [...prompts, "consent"].join(" "));
  return isFormPost || isUnasked;
}

async function answerPage({ server: { parts } }: OAuthDoor, call: Call, handle: PageHandler): Promise<void> {
  const { request, reply, running, target } = call;
  const { site } = running;
  const query = target.indexOf("?");
  const csrfKey = derived(parts.secrets, "csrf")[0]!;
  await handle(
    { ...parts, ...running, csrfKey, challenges: new PasskeyChallenges(csrfKey, parts.records) },
    {
      // The request as the library sees it, without the body, which is read here.
      request: mountedRequest(request, { site, target, isPage: true }),
      response: reply.raw,
      form: formOf(request),
      query: new URLSearchParams(query < 0 ? "" : target.slice(query)),
      address: request.ip ?? "",
    },
  );
}

/** Long enough for every request that could have been sent with GET. */
const longestQuery = 12 * 1024;

/**
 * What a form of an application sends (OpenID Connect Core, section 3.1.2.1; RP-Initiated Logout, section 2) is asked
 * for once more: a browser sends its cookies with that, and not with forms of other sites.
 */
async function askAgainByGet({ site }: PageParts, exchange: Exchange): Promise<void> {
  const { request, form } = exchange;
  const query = String(form ?? "");
  const isForm = /^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers["content-type"] ?? "");
  const refuse = (status: number, error_description: string): void =>
    show(site, exchange, status, errorPage(site, { error: "invalid_request", error_description }));
  if (!isForm) return refuse(400, "Only forms can be sent here.");
  if (query.length > longestQuery) return refuse(413, "The request is too long.");
  seeOther(site, exchange, `${request.url?.split("?", 1)[0]}?${query}`);
}

async function showScript(_parts: PageParts, exchange: Exchange): Promise<void> {
  showFile(exchange, "text/javascript; charset=utf-8", passkeyScript);
}

async function showLogo({ site }: PageParts, exchange: Exchange): Promise<void> {
  const { logo } = site.brand;
  if (logo) return showFile(exchange, logo.type, logo.bytes);
  const missing = { error: "not_found", error_description: "There is no logo." };
  show(site, exchange, 404, errorPage(site, missing));
}

/** The fields of a form that is sent; undefined where a page is only looked at. */
function formOf({ method, body }: FastifyRequest): URLSearchParams | undefined {
  if (method !== "POST") return undefined;
  return new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : "");
}
