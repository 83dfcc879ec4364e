// The metadata of the API as a protected resource (RFC 9728), and the challenge that points to them.

import type { FastifyInstance } from "fastify";
import { Problem } from "../../errors.ts";
import type { AuthorizationServer } from "../authorization-server.ts";

export const metadataPath = "/.well-known/oauth-protected-resource";

interface ProtectedResource {
  readonly server: AuthorizationServer;
}

/** RFC 9728, section 3. @param resourcePath the path of PUBLIC_URL */
export function registerResourceMetadata(
  routes: FastifyInstance,
  { server: { dependencies }, resourcePath }: ProtectedResource & { readonly resourcePath: string },
): void {
  for (const path of new Set(["", resourcePath])) {
    routes.get(`${metadataPath}${path}`, async (_request, reply) => {
      const { issuer, resource } = await dependencies.urls;
      reply.header("Access-Control-Allow-Origin", "*");
      return {
        resource,
        authorization_servers: [issuer],
        scopes_supported: dependencies.model.scopes,
        bearer_methods_supported: ["header"],
        resource_name: dependencies.brand.name,
      };
    });
  }
}

/**
 * Adds the URL of the metadata to the challenge of a refusal (RFC 9728, section 5.1). Other errors stay as they are.
 * @param path of the protected resource below PUBLIC_URL: `/mcp`, and empty for the API as a whole
 */
export async function withResourceMetadata(
  error: unknown,
  { server }: ProtectedResource,
  path: string,
): Promise<unknown> {
  const challenge = error instanceof Problem ? error.headers["WWW-Authenticate"] : undefined;
  if (challenge === undefined || !(error instanceof Problem)) return error;
  const { resource } = await server.dependencies.urls;
  const separator = challenge === "Bearer" ? " " : ", ";
  const headers = {
    ...error.headers,
    "WWW-Authenticate": `${challenge}${separator}resource_metadata="${resource}${metadataPath}${path}"`,
  };
  return new Problem(error.code, error.message, error.details, headers, error.cause);
}
