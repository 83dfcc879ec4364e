// Grants as oidc-provider stores them: what users allow applications to do.

import type { OAuthClientLookup } from "../../auth/clients/lookup.ts";
import type { OAuthRecords } from "../../auth/tokens/oauth-records.ts";

/** The members of a stored grant that are read here. */
interface StoredGrant {
  readonly jti: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly iat: number;
  readonly exp: number;
  readonly openid?: { readonly scope?: string };
}

/** A grant with its application. */
export interface Grant {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** A user's grants to applications that still exist, newest first. */
export async function grantsOf(
  records: OAuthRecords,
  clients: OAuthClientLookup,
  accountId: string,
): Promise<readonly Grant[]> {
  const stored = (await records.listByAccount("Grant", accountId)).map(
    (payload): StoredGrant => JSON.parse(payload),
  );
  const ids = new Set(stored.map(({ clientId }) => clientId));
  const existing = await Promise.all([...ids].map((id) => clients.find(id)));
  const names = new Map(
    existing.flatMap((client) => (client ? [[client.clientId, client.name] as const] : [])),
  );
  return stored
    .flatMap(({ jti, clientId, iat, exp, openid }): Grant[] => {
      const clientName = names.get(clientId);
      if (clientName === undefined) return [];
      const scopes = openid?.scope?.split(" ") ?? [];
      return [
        { id: jti, clientId, clientName, scopes, createdAt: timestampOf(iat), expiresAt: timestampOf(exp) },
      ];
    })
    .sort(byPosition);
}

/** The id of the user of a grant; undefined if there is no such grant. */
export async function grantOwner(records: OAuthRecords, id: string): Promise<string | undefined> {
  const record = await records.find("Grant", id);
  return record && (JSON.parse(record.payload) as StoredGrant).accountId;
}

/** The position of a grant in the list. */
export type GrantPosition = Pick<Grant, "createdAt" | "id">;

/** Compares for sorting: newest first, then by id. */
export function byPosition(one: GrantPosition, other: GrantPosition): number {
  if (one.createdAt !== other.createdAt) return one.createdAt > other.createdAt ? -1 : 1;
  return one.id === other.id ? 0 : one.id > other.id ? -1 : 1;
}

function timestampOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
