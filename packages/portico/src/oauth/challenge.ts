// Tells whoever comes without a good credential where to find out how to get one (RFC 9728, section 5.1).

import { Problem } from "../errors.ts";
import type { OAuthDoor } from "./routes.ts";

export const resourceMetadataPath = "/.well-known/oauth-protected-resource";

/** The same refusal, whose challenge names the metadata of the API. */
export async function withResourceMetadata(
  refusal: unknown,
  { server }: Pick<OAuthDoor, "server">,
): Promise<unknown> {
  const challenge = refusal instanceof Problem ? refusal.headers["WWW-Authenticate"] : undefined;
  if (challenge === undefined || !(refusal instanceof Problem)) return refusal;
  const { resource } = await server.parts.urls;
  const separator = challenge === "Bearer" ? " " : ", ";
  const headers = {
    ...refusal.headers,
    "WWW-Authenticate": `${challenge}${separator}resource_metadata="${resource}${resourceMetadataPath}"`,
  };
  return new Problem(refusal.code, refusal.message, refusal.details, headers, refusal.cause);
}
