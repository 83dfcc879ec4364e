// What may stand in the record of an OAuth client, beyond the schemas of its fields.

import { createPublicKey, type webcrypto } from "node:crypto";
import type { Caller } from "../../declare/caller.ts";
import type { ValidationContext } from "../../declare/resource.ts";
import { type FieldError, Problem, validationError } from "../../errors.ts";
import { redirectUriError } from "./redirect-uri.ts";

export const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
export const grantTypes = ["authorization_code", "refresh_token", "client_credentials", deviceGrant] as const;
export const openIdScopes: readonly string[] = ["openid", "profile", "email", "offline_access"];

/** The members of a client that belong together. */
export interface ClientParts {
  readonly type: "public" | "confidential";
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  readonly authMethod: string | null;
  readonly jwks: unknown;
  readonly jwksUri?: string | null | undefined;
}

type ClientInput = Readonly<Record<string, unknown>>;

/** Faults of a body of whose members the schemas approve. */
export function clientErrors(input: ClientInput, { scopes }: ValidationContext): readonly FieldError[] {
  const known = [...scopes, ...openIdScopes];
  const unknown = listOf(input["scopes"]).filter((scope) => !known.includes(scope));
  const errors: FieldError[] = listOf(input["redirectUris"]).flatMap((uri) => {
    const text = redirectUriError(uri);
    return text === undefined ? [] : [{ field: "redirectUris", issue: "format", text }];
  });
  if (typeof input["name"] === "string" && invisibleCharacters.test(input["name"])) {
    const text = "has characters that people do not see, or that turn the direction of a text";
    errors.push({ field: "name", issue: "format", text });
  }
  for (const key of keysOf(input["jwks"])) {
    if (isPublicKey(key)) continue;
    errors.push({ field: "jwks", issue: "format", text: "has a key that is none; give public keys as JWKs" });
  }
  const jwksUri = input["jwksUri"];
  const text = typeof jwksUri === "string" ? redirectUriError(jwksUri) : undefined;
  if (text !== undefined) errors.push({ field: "jwksUri", issue: "format", text });
  if (unknown.length > 0) {
    const text = `has ${unknown.join(", ")}, which is none of ${known.join(", ")}`;
    errors.push({ field: "scopes", issue: "choice", text });
  }
  return errors;
}

/** Control characters, and those that change how a text is read (Unicode, annexes 9 and 36). */
const invisibleCharacters =
  /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/u;

/** The schema of the field has seen that they are objects. */
function keysOf(jwks: unknown): readonly webcrypto.JsonWebKey[] {
  return (jwks as { readonly keys?: readonly webcrypto.JsonWebKey[] } | null | undefined)?.keys ?? [];
}

function isPublicKey(key: webcrypto.JsonWebKey): boolean {
  try {
    createPublicKey({ key, format: "jwk" });
    return true;
  } catch {
    return false;
  }
}

/** The schema of the field has seen that it is a list of texts. */
function listOf(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[];
}

/** @throws Problem `validation_error` for members that do not go together */
export function requireConsistent({
  type,
  redirectUris,
  grantTypes,
  authMethod,
  jwks,
  jwksUri,
}: ClientParts): void {
  const isPublic = type === "public";
  if (isPublic !== (authMethod === "none")) {
    throw validationError(
      "authMethod",
      "choice",
      "A public client has the authMethod none, a confidential one another.",
    );
  }
  if (isPublic && grantTypes.includes("client_credentials")) {
    throw validationError(
      "grantTypes",
      "choice",
      "A public client cannot have client_credentials: it has no secret.",
    );
  }
  if (grantTypes.includes("authorization_code") && redirectUris.length === 0) {
    throw validationError(
      "redirectUris",
      "required",
      "authorization_code needs at least one of redirectUris.",
    );
  }
  if (grantTypes.length === 1 && grantTypes[0] === "refresh_token") {
    throw validationError(
      "grantTypes",
      "choice",
      "refresh_token goes together with a grant type that asks a person.",
    );
  }
  const isGiven = (value: unknown): boolean => value !== null && value !== undefined;
  if (isGiven(jwks) && isGiven(jwksUri))
    throw validationError("jwksUri", "choice", "A client has jwks or jwksUri, not both.");
  if ((authMethod === "private_key_jwt") !== (isGiven(jwks) || isGiven(jwksUri))) {
    throw validationError(
      "jwks",
      "required",
      "private_key_jwt needs jwks or jwksUri, and no other authMethod has them.",
    );
  }
}

/** No client comes to more than the credential that makes or changes it. @throws Problem `insufficient_scope` */
export function assertCanGrantClientScopes(scopes: readonly string[], caller: Caller): void {
  const missing = scopes.find((scope) => !openIdScopes.includes(scope) && !caller.scopes.has(scope));
  if (missing === undefined) return;
  throw new Problem(
    "insufficient_scope",
    `The credential lacks the scope ${missing}, so it cannot give it to a client.`,
    [{ field: "scopes", issue: "choice" }],
  );
}

/**
 * A client acts for itself or asks every person of the tenant, so that an application which acts for one person manages
 * no clients.
 *
 * @throws Problem `forbidden`
 */
export function requireUndelegated({ isDelegated }: Caller): void {
  if (!isDelegated) return;
  throw new Problem(
    "forbidden",
    "An access token that a person granted cannot manage OAuth clients. Use an API key.",
  );
}
