// The metadata of the endpoint as a protected resource (RFC 9728), by which clients of MCP find the authorization server.

import type { FastifyInstance } from "fastify";
import type { Offer } from "./sdk-server.ts";

const metadataPath = "/.well-known/oauth-protected-resource";

interface MetadataOptions {
  readonly name: string;
  readonly urls: Promise<{ readonly issuer: string; readonly resource: string }>;
  /** Below PUBLIC_URL: `/mcp` */
  readonly path: string;
  /** The path of PUBLIC_URL: `/api` */
  readonly basePath: string;
  readonly offer: () => Promise<Pick<Offer, "tools">>;
}

/** RFC 9728, section 3. The scopes are those of the tools, because clients request all that are named here. */
export function registerResourceMetadata(
  routes: FastifyInstance,
  { name, urls, path, basePath, offer }: MetadataOptions,
): void {
  for (const prefix of new Set(["", basePath]))
    routes.get(`${metadataPath}${prefix}${path}`, async (_request, reply) => {
      const { issuer, resource } = await urls;
      const { tools } = await offer();
      const scopes = new Set([...tools.values()].flatMap(({ operation }) => operation.scope ?? []));
      reply.header("Access-Control-Allow-Origin", "*");
      return {
        resource: `${resource}${path}`,
        authorization_servers: [issuer],
        scopes_supported: [...scopes],
        bearer_methods_supported: ["header"],
        resource_name: name,
      };
    });
}
