// Reads the client with a `client_id`, of any tenant, from the database. Clients are not cached.

import { timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import { isId } from "../../lib/id.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import type { Store } from "../../store/store.ts";
import { tenantsTable } from "../../store/tenants.ts";
import { hashToken } from "../tokens/hash-token.ts";
import { usersTable } from "../users/fields.ts";
import { clientSecrets, oauthClients } from "./resource.ts";

export interface OAuthClient {
  readonly id: string;
  readonly tenantId: string;
  /** The name of the tenant, as the consent page shows it. */
  readonly tenantName: string;
  readonly clientId: string;
  readonly name: string;
  readonly authMethod: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  readonly scopes: readonly string[];
  readonly jwks: object | undefined;
  readonly jwksUri: string | undefined;
  readonly requiresConsent: boolean;
  readonly mayIntrospect: boolean;
  /** The role of its owner, `""` for one who was deactivated or deleted; undefined for a client without an owner. */
  readonly ownerRole: string | undefined;
  /** The current one, and older ones during their overlap. */
  readonly secrets: readonly ClientSecret[];
}

/** A secret in its stored form. */
export interface ClientSecret {
  readonly hash: string;
  /** RFC 3339; null for a secret that does not expire. */
  readonly expiresAt: string | null;
}

/** One row for each secret of the client, or one row if it has none. */
const selectClient = defineQuery(
  [oauthClients, clientSecrets, tenantsTable, usersTable],
  (db, { clientId }: ParametersOf<{ clientId: string }>) =>
    db
      .selectFrom("oauth_clients as c")
      .innerJoin("tenants as t", "t.no", "c.tenant_no")
      .leftJoin("client_secrets as s", (join) =>
        join.onRef("s.tenant_no", "=", "c.tenant_no").onRef("s.client_id", "=", "c.id"),
      )
      .leftJoin("users as o", (join) =>
        join
          .onRef("o.tenant_no", "=", "c.tenant_no")
          .onRef("o.id", "=", "c.owner_id")
          .on("o.active", "=", sql.lit(true)),
      )
      .select(["c.id", "c.tenant_no", "t.name as tenant_name", "c.name", "c.auth_method", "c.redirect_uris"])
      .select(["c.grant_types", "c.scopes", "c.jwks", "c.jwks_uri", "c.requires_consent", "c.may_introspect"])
      .select(["s.hash", "s.expires_at", "c.owner_id", "o.role as owner_role"])
      .where("c.client_id", "=", clientId),
);

export class OAuthClientLookup {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async find(clientId: string): Promise<OAuthClient | undefined> {
    if (!isId(clientId)) return undefined;
    const rows = await selectClient(this.#store).all(this.#store.database, { clientId });
    const [client] = rows;
    if (!client) return undefined;
    return {
      id: client.id,
      tenantId: client.tenant_no,
      tenantName: client.tenant_name,
      clientId,
      name: client.name,
      // A hook sets it when the client is created.
      authMethod: client.auth_method!,
      redirectUris: JSON.parse(client.redirect_uris),
      grantTypes: JSON.parse(client.grant_types),
      scopes: JSON.parse(client.scopes),
      jwks: client.jwks ? (JSON.parse(client.jwks) ?? undefined) : undefined,
      requiresConsent: client.requires_consent,
      mayIntrospect: client.may_introspect,
      ownerRole: client.owner_id === null ? undefined : (client.owner_role ?? ""),
      jwksUri: client.jwks_uri ?? undefined,
      secrets: rows.flatMap(({ hash, expires_at: expiresAt }) =>
        hash === null ? [] : [{ hash, expiresAt }],
      ),
    };
  }
}

export function isSecretOf(secrets: readonly ClientSecret[], presented: string): boolean {
  const presentedHash = Buffer.from(hashToken(presented));
  return secrets
    .filter(({ expiresAt }) => expiresAt === null || new Date(expiresAt).getTime() > Date.now())
    .some(({ hash }) => timingSafeEqual(presentedHash, Buffer.from(hash)));
}
