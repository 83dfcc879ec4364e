// Authenticates requests before their bodies are read, and again if these arrive late.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "../../declare/caller.ts";
import type { HttpContext } from "../http-module.ts";
import type { HttpServerOptions } from "../http-server.ts";
import { refuseCredentialInQuery } from "./credential-in-query.ts";
import { forbidSharedCaching, presentsCredential } from "./public-routes.ts";

/** A credential counts for so long without being looked up again. */
const lateBodyMs = 1_000;

/** Authenticates every request to these routes, but for those that a route opens, or that read what is public. */
export function requireAuthentication(
  routes: FastifyInstance,
  { authenticate, addressOf }: HttpContext,
  anonymousCaller: HttpServerOptions["anonymousCaller"],
): void {
  /** @throws Problem `authentication_required` if requests without a credential are refused */
  const anonymous = async (request: FastifyRequest, address: string): Promise<Caller> =>
    (await anonymousCaller(address)) ?? authenticate(request.raw, address);
  routes.addHook("onRequest", (request, reply, done) => {
    refuseCredentialInQuery(request.url);
    const { config } = request.route;
    if (config.isOpenTo?.(request)) return done();
    request.receivedAt = performance.now();
    const proceed = (caller: Caller): void => {
      request.caller = caller;
      done();
    };
    const address = addressOf(request.raw);
    if (config.isPublic) {
      forbidSharedCaching(reply);
      if (!presentsCredential(request.raw)) return void anonymous(request, address).then(proceed, done);
    }
    const authenticated = (): Promise<Caller> => authenticate(request.raw, address, config.resourcePath);
    const { beforeAuthentication } = config;
    (beforeAuthentication?.(request).then(authenticated) ?? authenticated()).then(proceed, done);
  });
  // The credential may have been revoked while the body arrived.
  routes.addHook("preHandler", (request, _reply, done) => {
    const { body, receivedAt, caller, raw } = request;
    if (body === undefined || performance.now() - receivedAt < lateBodyMs) return done();
    if (!caller || !presentsCredential(raw)) return done();
    authenticate(raw, addressOf(raw), request.route.config.resourcePath).then((current) => {
      request.caller = current;
      done();
    }, done);
  });
}
