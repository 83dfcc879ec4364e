// Which protected resource a token is requested for (RFC 8707). The endpoint of MCP is the API under another path.

import { mcpPath } from "../../api/paths.ts";
import type { PrepareContext } from "./endpoints.ts";

/**
 * Replaces the endpoint of MCP, where a request names it as the resource, by the API. A grant has its scopes by resource,
 * so two names would be two grants.
 * @returns whether the parameters were changed
 */
export async function nameApi(parameters: URLSearchParams, context: PrepareContext): Promise<boolean> {
  const { resource } = context.issuer;
  const endpoint = resource + mcpPath;
  const requested = parameters.getAll("resource");
  if (!requested.includes(endpoint)) return false;
  parameters.delete("resource");
  for (const each of new Set(requested.map((name) => (name === endpoint ? resource : name))))
    parameters.append("resource", each);
  await narrowScopes(parameters, context);
  return true;
}

/**
 * Clients of MCP request every scope that the metadata of the endpoint lists, also scopes that they were not registered for.
 * Scopes that a client cannot have are ignored (RFC 6749, section 3.3). The response names the scopes that were granted.
 */
async function narrowScopes(parameters: URLSearchParams, { clients }: PrepareContext): Promise<void> {
  const requested = parameters.get("scope")?.split(" ") ?? [];
  const client = await clients.find(parameters.get("client_id") ?? "");
  const allowed = requested.filter((scope) => client?.scopes.includes(scope));
  if (allowed.length > 0) parameters.set("scope", allowed.join(" "));
}
