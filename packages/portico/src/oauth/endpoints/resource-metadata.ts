// Tells whoever comes without a good credential where to find out how to get one (RFC 9728, section 5.1).

import { Problem } from "../../errors.ts";
import type { OAuthOptions } from "./routes.ts";

export const resourceMetadataPath = "/.well-known/oauth-protected-resource";

/** The same refusal, whose challenge names the metadata of the API. */
export async function withResourceMetadata(
  error: unknown,
  { server }: Pick<OAuthOptions, "server">,
): Promise<unknown> {
  const challenge = error instanceof Problem ? error.headers["WWW-Authenticate"] : undefined;
  if (challenge === undefined || !(error instanceof Problem)) return error;
  const { resource: metadataUrl } = await server.dependencies.urls;
  const separator = challenge === "Bearer" ? " " : ", ";
  const headers = {
    ...error.headers,
    "WWW-Authenticate": `${challenge}${separator}resource_metadata="${metadataUrl}${resourceMetadataPath}"`,
  };
  return new Problem(error.code, error.message, error.details, headers, error.cause);
}
