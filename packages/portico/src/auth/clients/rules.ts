// Rules for OAuth clients beyond the schemas of their fields.

import { createPublicKey, type webcrypto } from "node:crypto";
import { administrativeScopes } from "../../declare/administrative-scopes.ts";
import type { Caller } from "../../declare/caller.ts";
import type { ValidationContext } from "../../declare/hooks.ts";
import { everyScope } from "../../declare/roles.ts";
import { type FieldError, Problem, validationError } from "../../errors.ts";
import type { Model } from "../../model/model.ts";
import { scopesOfRole } from "../users/role-rules.ts";
import { redirectUriError } from "./redirect-uri.ts";

export const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
export const grantTypes = ["authorization_code", "refresh_token", "client_credentials", deviceGrant] as const;
export const openIdScopes: readonly string[] = ["openid", "profile", "email", "offline_access"];

/** The members of a client that must be consistent with each other. */
export interface ClientParts {
  readonly type: "public" | "confidential";
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  readonly authMethod: string | null;
  readonly jwks: unknown;
  readonly jwksUri?: string | null | undefined;
}

type ClientInput = Readonly<Record<string, unknown>>;

/** Validates a body whose fields match their schemas. */
export function clientErrors(input: ClientInput, { scopes }: ValidationContext): readonly FieldError[] {
  const known = [...scopes, ...openIdScopes];
  const unknown = listOf(input["scopes"]).filter((scope) => !known.includes(scope));
  const errors: FieldError[] = listOf(input["redirectUris"]).flatMap((uri) => {
    const text = redirectUriError(uri);
    return text === undefined ? [] : [{ field: "redirectUris", issue: "format", text }];
  });
  if (typeof input["name"] === "string" && invisibleCharacters.test(input["name"])) {
    const text = "contains invisible characters, or characters that change the direction of text";
    errors.push({ field: "name", issue: "format", text });
  }
  for (const key of keysOf(input["jwks"])) {
    if (isPublicKey(key)) continue;
    errors.push({
      field: "jwks",
      issue: "format",
      text: "contains an invalid key; use public keys in JWK format",
    });
  }
  const jwksUri = input["jwksUri"];
  const text = typeof jwksUri === "string" ? redirectUriError(jwksUri) : undefined;
  if (text !== undefined) errors.push({ field: "jwksUri", issue: "format", text });
  if (unknown.length > 0) {
    const text = `contains unknown scopes: ${unknown.join(", ")} (known: ${known.join(", ")})`;
    errors.push({ field: "scopes", issue: "choice", text });
  }
  return errors;
}

/** Control characters, and those that change how text is displayed (Unicode, annexes 9 and 36). */
const invisibleCharacters =
  /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/u;

/** The schema of the field has validated that they are objects. */
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

/** The schema of the field has validated that it is a list of texts. */
function listOf(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[];
}

/** @throws Problem `validation_error` for inconsistent members */
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
      "A public client must have the authMethod none, a confidential client any other.",
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
      "authorization_code requires at least one of redirectUris.",
    );
  }
  if (grantTypes.length === 1 && grantTypes[0] === "refresh_token") {
    throw validationError(
      "grantTypes",
      "choice",
      "refresh_token requires authorization_code or the device code grant.",
    );
  }
  const isSet = (value: unknown): boolean => value !== null && value !== undefined;
  if (isSet(jwks) && isSet(jwksUri))
    throw validationError("jwksUri", "choice", "A client can have jwks or jwksUri, not both.");
  if ((authMethod === "private_key_jwt") !== (isSet(jwks) || isSet(jwksUri))) {
    throw validationError(
      "jwks",
      "required",
      "private_key_jwt requires jwks or jwksUri, and no other authMethod allows them.",
    );
  }
}

/** A client cannot be granted a scope that the caller lacks. @throws Problem `insufficient_scope` */
export function assertCanGrantClientScopes(scopes: readonly string[], caller: Caller): void {
  const missing = scopes.find((scope) => !openIdScopes.includes(scope) && !caller.scopes.has(scope));
  if (missing === undefined) return;
  throw new Problem(
    "insufficient_scope",
    `The credential lacks the scope ${missing}, so it cannot grant it to a client.`,
    [{ field: "scopes", issue: "choice" }],
  );
}

/**
 * No role restricts a client that acts for itself. With an administrative scope it could do to users what the role of the
 * one who manages the client does not allow, so that one needs every scope.
 *
 * @throws Problem `forbidden`
 */
export function requireRoleForMachine(
  { grantTypes }: Pick<ClientParts, "grantTypes">,
  scopes: readonly string[],
  caller: Caller,
  model: Pick<Model, "roles">,
): void {
  const scope = scopes.find((each) => administrativeScopes.has(each));
  if (scope === undefined || caller.role === null || !grantTypes.includes("client_credentials")) return;
  if (scopesOfRole(model, caller.role).has(everyScope)) return;
  throw new Problem(
    "forbidden",
    `The role ${caller.role} does not include every scope, so you cannot manage a client that acts for itself with the scope ${scope}.`,
  );
}

/**
 * A token that a user granted cannot manage clients, because a client acts for itself or for every user of the tenant.
 *
 * @throws Problem `forbidden`
 */
export function requireUndelegated({ isDelegated }: Caller): void {
  if (!isDelegated) return;
  throw new Problem(
    "forbidden",
    "An access token granted by a user cannot manage OAuth clients. Use an API key.",
  );
}
