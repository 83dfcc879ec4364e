// OAuth clients as a resource: the applications that request access, and how their secrets are issued and rotated.

import { randomBytes } from "node:crypto";
import { belongsTo, boolean, choice, id, json, list, text, timestamp } from "../../declare/field.ts";
import type { HookContext } from "../../declare/hooks.ts";
import type { RecordOf } from "../../declare/record.ts";
import { type Resource, resource } from "../../declare/resource.ts";
import { Problem } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { ownContext } from "../own-hook-context.ts";
import { rotationInput } from "../rotation.ts";
import { requireTenant } from "../tenants/existing-tenant.ts";
import { hashToken } from "../tokens/hash-token.ts";
import { maxUriLength } from "./redirect-uri.ts";
import {
  assertCanGrantClientScopes,
  type ClientParts,
  clientErrors,
  deviceGrant,
  grantTypes,
  requireConsistent,
  requireRoleForMachine,
  requireUndelegated,
} from "./rules.ts";

const secretWarning = "Store the secret now: it is not shown again.";

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
  name: text({ min: 1, max: 200, description: "The name on the consent page." }),
  clientId: text({ max: 64, readOnly: true, unique: "all tenants", description: "`client_id` of OAuth." }),
  type: choice(["public", "confidential"], { immutable: true }),
  authMethod: choice(["none", "client_secret_basic", "client_secret_post", "private_key_jwt"], {
    optional: true,
    immutable: true,
    description: "How the client authenticates at the token endpoint.",
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
    description: "The scopes that the client can request.",
  }),
  jwks: json({ optional: true, schema: jwksSchema }),
  jwksUri: text({
    optional: true,
    min: 1,
    max: maxUriLength,
    description: "The URL of its public keys for private_key_jwt, instead of jwks.",
  }),
  requiresConsent: boolean({
    default: true,
    description: "False for first-party applications, which skip the consent page.",
  }),
  mayIntrospect: boolean({
    default: false,
    description: "True for resource servers, which can introspect all tokens of the tenant.",
  }),
  secretId: id({ readOnly: true, optional: true }),
  ownerId: id({
    readOnly: true,
    optional: true,
    description:
      "The user who created or last changed it. When it acts for itself, it does at most what their role allows.",
  }),
};

/** The type of the built-in resource for OAuth clients. */
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
  returnsOnce: {
    clientSecret: "The secret of a confidential client. It is not shown again.",
    warning: "That the secret is not shown again.",
  },
  hooks: {
    before: {
      async create(input, context) {
        const { caller } = context;
        await requireTenant(ownContext(context));
        requireUndelegated(caller);
        const granted = listOf(input.scopes);
        assertCanGrantClientScopes(granted, caller);
        requireRoleForMachine(partsOf(input), granted, caller, ownContext(context).model);
        const authMethod = input.authMethod ?? defaultAuthMethod(input);
        requireConsistent(partsOf({ ...input, authMethod }));
        return { clientId: newId("client"), authMethod, ownerId: caller.userId };
      },
      update(changes, context) {
        const { caller, current } = context;
        requireUndelegated(caller);
        // Whoever changes its redirect URIs or keys can get everything that the client can.
        const granted = [...listOf(current.scopes), ...listOf(changes.scopes)];
        assertCanGrantClientScopes(granted, caller);
        const changed = partsOf({ ...current, ...changes });
        requireRoleForMachine(changed, granted, caller, ownContext(context).model);
        requireConsistent(changed);
        return { ownerId: caller.userId };
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
      async run({ current, input: { overlapSeconds }, ...context }) {
        requireUndelegated(context.caller);
        if (!hasSecret(current)) throw new Problem("conflict", "The client has no secret to rotate.");
        const granted = listOf(current.scopes);
        assertCanGrantClientScopes(granted, context.caller);
        requireRoleForMachine(partsOf(current), granted, context.caller, ownContext(context).model);
        const end = new Date(Date.parse(context.now) + Number(overlapSeconds) * 1000).toISOString();
        await endSecrets(current.secretId, end, context);
        return issueSecret(current, context);
      },
    },
  },
});

/** The hashes of client secrets. A client has several while one replaces another. */
export const clientSecrets = resource("clientSecret", {
  exposed: false,
  scopes,
  fields: {
    client: belongsTo((): Resource => oauthClients, { onDelete: "cascade" }),
    hash: text({ internal: true }),
    expiresAt: timestamp({ optional: true }),
    /** The secret that this one replaces. */
    previousId: id({ optional: true }),
  },
});

/** Makes a secret, and those that it replaced, expire at a time or earlier. */
async function endSecrets(newest: string | null, end: string, { rows, now }: HookContext): Promise<void> {
  let id = newest;
  while (id !== null) {
    const secret = await rows.get(clientSecrets, id);
    // A secret never expires after the one that replaced it.
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

/** With redirect URIs, the grants of a client that signs users in; otherwise those of a device or a service. */
function defaultGrantTypes({
  type,
  redirectUris,
}: Readonly<Record<string, unknown>>): readonly (typeof grantTypes)[number][] {
  if (listOf(redirectUris).length > 0) return ["authorization_code", "refresh_token"];
  return type === "public" ? [deviceGrant, "refresh_token"] : ["client_credentials"];
}

function partsOf(row: Readonly<Record<string, unknown>>): ClientParts {
  // The schemas of the fields have validated the types.
  return row as unknown as ClientParts;
}

/** The schema of the field has validated that it is a list of texts. */
function listOf(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[];
}
