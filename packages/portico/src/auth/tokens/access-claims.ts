// The claims of an access token, and their verification (RFC 9068, section 4).

import type { KeyObject } from "node:crypto";
import { isId } from "../../lib/id.ts";
import type { OAuthUrls } from "./oauth-urls.ts";
import type { SigningKeyRing } from "./signing-keys.ts";

export interface AccessClaims {
  readonly jti: string;
  /** The user's id, or the client's own where it acts for itself. */
  readonly sub: string;
  readonly client_id: string;
  readonly tenant_id: string;
  /** The grant of the user; undefined where the client acts for itself. */
  readonly grant_id?: string;
  readonly scope?: string;
  readonly aud: string;
  readonly iat: number;
  readonly exp: number;
}

/** Tolerated difference between two clocks. */
export const clockSkewSeconds = 30;

/** The claims of a token with a valid signature, type, issuer, audience and lifetime; undefined otherwise. */
export async function verifiedClaims(
  token: string,
  keys: SigningKeyRing,
  urls: OAuthUrls,
): Promise<AccessClaims | undefined> {
  // Decoders accept several texts for the same signature. Only the canonical one is a token.
  const signature = token.slice(token.lastIndexOf(".") + 1);
  if (Buffer.from(signature, "base64url").toString("base64url") !== signature) return undefined;
  const claims = await verifiedPayload(token, keys, urls);
  if (!isAccessClaims(claims)) return undefined;
  return claims.iat <= Date.now() / 1000 + clockSkewSeconds ? claims : undefined;
}

async function verifiedPayload(
  token: string,
  keys: SigningKeyRing,
  { issuer, resource }: OAuthUrls,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  // Loaded with the first token, because many servers never receive one.
  const { errors, jwtVerify } = await import("jose");
  const key = async ({ kid }: { readonly kid?: unknown }): Promise<KeyObject> => {
    const publicKey = typeof kid === "string" ? await keys.publicKey(kid) : undefined;
    if (!publicKey) throw new errors.JWKSNoMatchingKey();
    return publicKey;
  };
  const clockTolerance = clockSkewSeconds;
  const expected = { algorithms: ["ES256"], typ: "at+jwt", issuer, audience: resource, clockTolerance };
  try {
    return (await jwtVerify(token, key, expected)).payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** The claims of a JWT whose signature is not verified; undefined for anything else. */
export function unverifiedClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isAccessClaims(
  claims: Readonly<Record<string, unknown>> | undefined,
): claims is Readonly<Record<string, unknown>> & AccessClaims {
  if (!claims) return false;
  // The operator may sign other tokens with the same key, and the database cannot look up every text.
  const ids = ["sub", "client_id", "tenant_id"].map((name) => claims[name]);
  const texts = ["iss", "jti", "aud"].map((name) => claims[name]);
  const optional = ["grant_id", "scope"].map((name) => claims[name]);
  return (
    ids.every((value) => typeof value === "string" && isId(value)) &&
    texts.every((value) => typeof value === "string") &&
    optional.every((value) => value === undefined || typeof value === "string") &&
    [claims["iat"], claims["exp"]].every(Number.isFinite)
  );
}
