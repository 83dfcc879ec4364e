// Grants as they are kept: what people allow applications to do.

import type { OAuthClientLookup } from "../identity/oauth-client-lookup.ts";
import type { OAuthRecords } from "../identity/oauth-records.ts";

/** What is kept of a grant, as far as it is read here. */
interface Kept {
  readonly jti: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly iat: number;
  readonly exp: number;
  readonly openid?: { readonly scope?: string };
}

/** A grant with the application that it was given to. */
export interface Grant {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** The grants of a person to applications that are still there, the newest first. */
export async function grantsOf(
  records: OAuthRecords,
  clients: OAuthClientLookup,
  accountId: string,
): Promise<readonly Grant[]> {
  const kept = (await records.ofAccount("Grant", accountId)).map((payload): Kept => JSON.parse(payload));
  const ids = new Set(kept.map(({ clientId }) => clientId));
  const found = await Promise.all([...ids].map((id) => clients.find(id)));
  const names = new Map(found.flatMap((client) => (client ? [[client.clientId, client.name] as const] : [])));
  return kept
    .flatMap(({ jti, clientId, iat, exp, openid }): Grant[] => {
      const clientName = names.get(clientId);
      if (clientName === undefined) return [];
      const scopes = openid?.scope?.split(" ") ?? [];
      return [{ id: jti, clientId, clientName, scopes, createdAt: moment(iat), expiresAt: moment(exp) }];
    })
    .sort(byPlace);
}

/** The person who gave a grant; undefined where there is none. */
export async function giverOf(records: OAuthRecords, id: string): Promise<string | undefined> {
  const found = await records.find("Grant", id);
  return found && (JSON.parse(found.payload) as Kept).accountId;
}

/** Where a grant stands in the list. */
export type Place = Pick<Grant, "createdAt" | "id">;

/** Below zero where the first comes before the second: newest first, then by id. */
export function byPlace(one: Place, other: Place): number {
  if (one.createdAt !== other.createdAt) return one.createdAt > other.createdAt ? -1 : 1;
  return one.id === other.id ? 0 : one.id > other.id ? -1 : 1;
}

function moment(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
