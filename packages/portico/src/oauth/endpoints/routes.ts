// Registers the routes of OAuth: every endpoint of the authorization server below AUTH_URL, and its metadata.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ClientAddressReader } from "../../net/client-address.ts";
import { requireUncompressed } from "../../net/content-encoding.ts";
import type { AuthorizationServer } from "../authorization-server.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";
import {
  describeOAuthError,
  renderErrorPage,
  sendOAuthError,
  sendTooManyRequests,
  sendUnexpectedError,
} from "./failure.ts";
import { forwardToProvider, handlePage } from "./forward.ts";
import {
  isPreflight,
  pathOf,
  requireSingleAuthorization,
  requireValidParameters,
  searchOf,
} from "./request-checks.ts";
import { registerResourceMetadata } from "./resource-metadata.ts";

export interface OAuthOptions {
  readonly server: AuthorizationServer;
  /** The path of AUTH_URL as requests arrive. */
  readonly mount: string;
  /** The paths of AUTH_URL and PUBLIC_URL as callers know them. */
  readonly issuerPath: string;
  readonly resourcePath: string;
  readonly addressOf: ClientAddressReader;
}

const bodyLimitBytes = 48 * 1024;

export async function registerOAuth(routes: FastifyInstance, options: OAuthOptions): Promise<void> {
  routes.removeAllContentTypeParsers();
  routes.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit: bodyLimitBytes },
    async ({ headers }: FastifyRequest, body: Buffer) => {
      requireUncompressed(headers["content-encoding"]);
      return body;
    },
  );
  routes.setErrorHandler(sendOAuthError);
  for (const endpoint of endpoints) register(routes, options, endpoint, `${options.mount}${endpoint.path}`);
  registerRootMetadata(routes, options);
  registerResourceMetadata(routes, options);
}

/**
 * Metadata of an issuer with a path are also expected at `/.well-known/...` of its origin, followed by that path (RFC
 * 8414, section 3.1). A proxy may forward the issuer's whole path or remove a prefix, so both are registered.
 */
function registerRootMetadata(routes: FastifyInstance, options: OAuthOptions): void {
  const paths = new Set([options.mount, options.issuerPath].filter((path) => path !== ""));
  for (const endpoint of endpoints.filter(({ path }) => path.startsWith("/.well-known/")))
    for (const path of paths) register(routes, options, endpoint, `${endpoint.path}${path}`);
}

function register(routes: FastifyInstance, options: OAuthOptions, endpoint: Endpoint, url: string): void {
  const { server, addressOf } = options;
  const { methods, isPage = false, prepare, handle } = endpoint;
  routes.route({
    method: [...methods],
    url,
    config: { ignoresAccept: true, hasOwnCors: true, describeError: describeOAuthError },
    ...(isPage && {
      // handled: Fastify awaits what an error handler returns.
      errorHandler: async (error, request, reply) => {
        const { issuer } = await server.running();
        return renderErrorPage(issuer, error, request, reply);
      },
    }),
    handler: async (request, reply) => {
      if (request.method === "OPTIONS" && !isPreflight(request)) return sendAllowedMethods(reply, methods);
      const running = await server.running();
      if (!isPage) requireSingleAuthorization(request);
      const search = searchOf(request);
      requireValidParameters(request, search);
      const target = `${pathOf(endpoint.path, request.params)}${search}`;
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders()))
        reply.raw.setHeader(name, value as string);
      const call = { request, reply, running, target, isPage, address: addressOf(request.raw) };
      try {
        const seconds = await secondsToWait(options, endpoint, request, call.address);
        if (seconds > 0) return sendTooManyRequests(call, seconds);
        await (handle
          ? handlePage(server.dependencies, call, handle)
          : forwardToProvider(server.dependencies, call, prepare));
      } catch (error) {
        sendUnexpectedError(error, call);
      }
      return reply;
    },
  });
}

function sendAllowedMethods(reply: FastifyReply, methods: Endpoint["methods"]): FastifyReply {
  const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return reply.code(204).header("Allow", allowed.join(", ")).send();
}

/** Submitted user codes have a limit of their own, lower than that of views of the page. */
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
