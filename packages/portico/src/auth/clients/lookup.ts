// Finds the client behind a `client_id` as the database has it now, whichever tenant it belongs to.

import { timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import { isId } from "../../lib/id.ts";
import type { Statement } from "../../store/database.ts";
import { compile, parameter } from "../../store/statement.ts";
import type { Store } from "../../store/store.ts";
import { hashToken } from "../tokens/hash-token.ts";

export interface OAuthClient {
  readonly id: string;
  readonly tenantId: string;
  /** The account that made it, as people are told. */
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
  /** The new one, and one that is still being replaced. */
  readonly secrets: readonly ClientSecret[];
}

/** A secret as it is kept. */
export interface ClientSecret {
  readonly hash: string;
  /** RFC 3339; null for one that does not end. */
  readonly expiresAt: string | null;
}

export class OAuthClientLookup {
  readonly #store: Store;
  readonly #client: Statement<string>;

  constructor(store: Store) {
    this.#store = store;
    const { builder } = store.dialect;
    const clientId = parameter((clientId: string) => clientId);
    this.#client = compile(
      builder,
      sql`select c.id, c.tenant_id, t.name, c.client_id, c.name, c.auth_method, c.redirect_uris, c.grant_types,
          c.scopes, c.jwks, c.requires_consent, c.may_introspect, c.jwks_uri, s.hash, s.expires_at
        from oauth_clients as c join tenants as t on t.id = c.tenant_id
        left join client_secrets as s on s.tenant_id = c.tenant_id and s.client_id = c.id
        where c.client_id = ${clientId}`,
    );
  }

  async find(clientId: string): Promise<OAuthClient | undefined> {
    if (!isId(clientId)) return undefined;
    // One row for each secret, or one without.
    const rows = await this.#store.database.query(this.#client, clientId);
    const [row] = rows;
    if (!row) return undefined;
    // The columns of the statement above.
    const [id, tenantId, tenantName, , name, authMethod, redirectUris, grantTypes, scopes, jwks] =
      row as readonly string[];
    return {
      id: id!,
      tenantId: tenantId!,
      tenantName: tenantName!,
      clientId,
      name: name!,
      authMethod: authMethod!,
      redirectUris: JSON.parse(redirectUris!),
      grantTypes: JSON.parse(grantTypes!),
      scopes: JSON.parse(scopes!),
      jwks: jwks ? (JSON.parse(jwks) ?? undefined) : undefined,
      requiresConsent: Boolean(row[10]),
      mayIntrospect: Boolean(row[11]),
      jwksUri: (row[12] as string | null) ?? undefined,
      secrets: rows.flatMap(({ 13: hash, 14: expiresAt }) =>
        typeof hash === "string" ? [{ hash, expiresAt: expiresAt as string | null }] : [],
      ),
    };
  }
}

export function isSecretOf(secrets: readonly ClientSecret[], presented: string): boolean {
  const its = Buffer.from(hashToken(presented));
  return secrets
    .filter(({ expiresAt }) => expiresAt === null || new Date(expiresAt).getTime() > Date.now())
    .some(({ hash }) => timingSafeEqual(its, Buffer.from(hash)));
}
