// OAuth clients as a resource: the applications that ask for access, how one is made and how its secret is replaced.

import { randomBytes } from "node:crypto";
import { belongsTo, boolean, choice, id, json, list, text, timestamp } from "../../declare/field.ts";
import type { RecordOf } from "../../declare/record.ts";
import { type HookContext, type Resource, resource } from "../../declare/resource.ts";
import { Problem } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { rotationInput } from "../rotation.ts";
import { hashToken } from "../tokens/hash-token.ts";
import { maxUriLength } from "./redirect-uri.ts";
import {
  assertCanGrantClientScopes,
  type ClientParts,
  clientErrors,
  deviceGrant,
  grantTypes,
  requireConsistent,
  requireUndelegated,
} from "./rules.ts";

export const secretWarning = "Store the secret now: it is not shown again.";

const secretBytes = 32;

/** Public keys only: EC, RSA and Ed25519 (RFC 7517), without members of private keys. */
const jwksSchema = {
  type: "object",
  properties: {
    keys: {
      type: "array",
      minItems: 1,
      maxItems: 10,
      items: {
        type: "object",
        properties: {
          kty: { enum: ["EC", "RSA", "OKP"] },
          ...Object.fromEntries(
            ["kid", "alg", "use", "crv", "x", "y", "n", "e"].map((name) => [name, { type: "string" }]),
          ),
          key_ops: { type: "array", items: { type: "string" } },
        },
        required: ["kty"],
        additionalProperties: false,
      },
    },
  },
  required: ["keys"],
  additionalProperties: false,
};

const clientFields = {
  name: text({ min: 1, max: 200, description: "How people are told who asks." }),
  clientId: text({ max: 64, readOnly: true, unique: "all tenants", description: "`client_id` of OAuth." }),
  type: choice(["public", "confidential"], { immutable: true }),
  authMethod: choice(["none", "client_secret_basic", "client_secret_post", "private_key_jwt"], {
    optional: true,
    immutable: true,
    description: "How it shows who it is at the token endpoint.",
  }),
  redirectUris: list(text({ min: 1, max: maxUriLength }), { max: 20, uniqueItems: true, default: [] }),
  grantTypes: list(choice(grantTypes), {
    min: 1,
    max: grantTypes.length,
    uniqueItems: true,
    default: defaultGrantTypes,
  }),
  scopes: list(text({ min: 1, max: 100 }), {
    uniqueItems: true,
    description: "The most that it may ask for.",
  }),
  jwks: json({ optional: true, schema: jwksSchema }),
  jwksUri: text({
    optional: true,
    min: 1,
    max: maxUriLength,
    description: "Where its public keys are, for private_key_jwt, instead of jwks.",
  }),
  requiresConsent: boolean({ default: true, description: "False for applications of one's own." }),
  mayIntrospect: boolean({
    default: false,
    description: "True for resource servers, which look at all tokens.",
  }),
  secretId: id({ readOnly: true, optional: true }),
};

/** The server's own resource for clients. */
export type OAuthClients = Resource<"oauthClient", typeof clientFields, undefined>;
type ClientRow = RecordOf<OAuthClients>;

const scopes = { read: "clients:read", write: "clients:manage" };

export const oauthClients: OAuthClients = resource("oauthClient", {
  fields: clientFields,
  version: "v1",
  scopes,
  filter: ["clientId", "type"],
  sort: ["createdAt", "name"],
  validate: clientErrors,
  hooks: {
    before: {
      create(input, { caller }) {
        requireUndelegated(caller);
        assertCanGrantClientScopes(listOf(input.scopes), caller);
        const authMethod = input.authMethod ?? defaultAuthMethod(input);
        requireConsistent(partsOf({ ...input, authMethod }));
        return { clientId: newId("client"), authMethod };
      },
      update(changes, { caller, current }) {
        requireUndelegated(caller);
        // Whoever says where its answers go, or with which key it signs, has what it has.
        assertCanGrantClientScopes([...listOf(current.scopes), ...listOf(changes.scopes)], caller);
        requireConsistent(partsOf({ ...current, ...changes }));
        return undefined;
      },
      delete({ caller }) {
        requireUndelegated(caller);
      },
    },
    after: {
      async create(client, context) {
        if (hasSecret(client)) await issueSecret(client, context);
      },
    },
  },
  actions: {
    rotations: {
      verb: "rotate",
      input: rotationInput("secret"),
      async run(current, { overlapSeconds }, context) {
        requireUndelegated(context.caller);
        if (!hasSecret(current))
          throw new Problem("conflict", "The client has no secret that could be replaced.");
        assertCanGrantClientScopes(listOf(current.scopes), context.caller);
        const end = new Date(Date.parse(context.now) + Number(overlapSeconds) * 1000).toISOString();
        await endSecrets(current.secretId, end, context);
        return issueSecret(current, context);
      },
    },
  },
});

/** The hashes of clients' secrets: several while one replaces another. */
export const clientSecrets = resource("clientSecret", {
  exposed: false,
  scopes,
  fields: {
    client: belongsTo((): Resource => oauthClients, { onDelete: "cascade" }),
    hash: text({ internal: true }),
    expiresAt: timestamp({ optional: true }),
    /** The secret that this one has replaced. */
    previousId: id({ optional: true }),
  },
});

/** Lets a secret, and those that it has replaced, end at a moment, or earlier where they would anyway. */
async function endSecrets(newest: string | null, end: string, { rows, now }: HookContext): Promise<void> {
  let id = newest;
  while (id !== null) {
    const secret = await rows.get(clientSecrets, id);
    // None ends after the one that has replaced it.
    if (!secret || (secret.expiresAt !== null && secret.expiresAt <= now)) return;
    if (secret.expiresAt === null || secret.expiresAt > end)
      await rows.update(clientSecrets, id, { expiresAt: end });
    id = secret.previousId;
  }
}

async function issueSecret(
  { id, secretId: previousId }: { readonly id: string; readonly secretId?: string | null },
  { rows, returnOnce }: HookContext,
): Promise<ClientRow> {
  const secret = randomBytes(secretBytes).toString("base64url");
  const { id: secretId } = await rows.create(clientSecrets, {
    clientId: id,
    hash: hashToken(secret),
    previousId: previousId ?? null,
  });
  returnOnce({ clientSecret: secret, warning: secretWarning });
  return rows.update(oauthClients, id, { secretId });
}

function hasSecret({ authMethod }: { readonly authMethod: string | null }): boolean {
  return authMethod === "client_secret_basic" || authMethod === "client_secret_post";
}

function defaultAuthMethod({ type, jwks, jwksUri }: Readonly<Record<string, unknown>>) {
  if (type === "public") return "none";
  return jwks || jwksUri ? "private_key_jwt" : "client_secret_basic";
}

/** Where nothing is said: for people where there is a place to send them back to, for the application itself otherwise. */
function defaultGrantTypes({
  type,
  redirectUris,
}: Readonly<Record<string, unknown>>): readonly (typeof grantTypes)[number][] {
  if (listOf(redirectUris).length > 0) return ["authorization_code", "refresh_token"];
  return type === "public" ? [deviceGrant, "refresh_token"] : ["client_credentials"];
}

function partsOf(row: Readonly<Record<string, unknown>>): ClientParts {
  // The schemas of the fields have seen what each is.
  return row as unknown as ClientParts;
}

/** The schema of the field has seen that it is a list of texts. */
function listOf(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[];
}
