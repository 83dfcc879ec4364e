// The issuer and its URLs. They come from AUTH_URL only, never from a request.

import { hash } from "node:crypto";
import { isIP } from "node:net";
import type { OAuthUrls } from "../../auth/tokens/oauth-urls.ts";
import type { Role } from "../../model/roles.ts";
import type { Brand } from "../pages/brand.ts";

export interface Issuer extends OAuthUrls {
  readonly brand: Brand;
  /** `https://example.com` of the issuer. */
  readonly origin: string;
  /** `example.com`, with the port if AUTH_URL has one. */
  readonly host: string;
  readonly protocol: "http" | "https";
  /** `/oauth`: the path of the issuer as callers see it; empty at the root. */
  readonly path: string;
  /** The relying party id of passkeys (WebAuthn, section 5.4.2); undefined if the host is an IP address. */
  readonly rpId: string | undefined;
  /** Every scope of the API. */
  readonly scopes: readonly string[];
  /** The roles of users. */
  readonly roles: readonly Role[];
}

export function issuerOf(
  { issuer: url, resource }: OAuthUrls,
  brand: Brand,
  { scopes, roles }: Pick<Issuer, "scopes" | "roles">,
): Issuer {
  const { origin, host, hostname, protocol: scheme } = new URL(url);
  const protocol = scheme === "https:" ? "https" : "http";
  const isAddress = isIP(hostname) !== 0 || hostname.startsWith("[");
  const rpId = isAddress ? undefined : hostname;
  const path = pathOf(url);
  return { issuer: url, resource, brand, scopes, roles, origin, host, protocol, rpId, path };
}

/** The path of AUTH_URL as requests arrive: without the path of PUBLIC_URL, which a proxy removes. */
export function mountedAt(authUrl: string, publicUrl: string) {
  const issuerPath = pathOf(authUrl);
  const resourcePath = pathOf(publicUrl);
  const isInside =
    new URL(authUrl).origin === new URL(publicUrl).origin && `${issuerPath}/`.startsWith(`${resourcePath}/`);
  return { issuerPath, resourcePath, mount: isInside ? issuerPath.slice(resourcePath.length) : issuerPath };
}

function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/$/, "");
}

/** Derives a key for one purpose from each of the server's secrets. */
export function deriveSecrets(secrets: readonly string[], purpose: string): string[] {
  return secrets.map((secret) => hash("sha256", `portico ${purpose}\0${secret}`, "base64url"));
}
