// oidc-provider 9.13 compares a presented client secret with the plain `client_secret` of the client's metadata.
// Portico stores hashes, and two of them while one secret replaces another: the method that compares is replaced, and
// the metadata hold a placeholder, because the library refuses such a client without a secret.

import type Provider from "oidc-provider";
import { type ClientSecret, isSecretOf } from "../../../auth/clients/lookup.ts";

/** The `client_secret` of clients in the library's metadata. It is never compared. */
export const secretPlaceholder = "stored as a hash";

interface ClientWithSecrets {
  /** The member of the extra client metadata with this name. */
  readonly secrets: readonly ClientSecret[];
  compareClientSecret(presented: string): boolean;
}

export function compareHashedSecrets(provider: Provider): void {
  const { Client } = provider as unknown as { Client: { prototype: ClientWithSecrets } };
  Client.prototype.compareClientSecret = function (this: ClientWithSecrets, presented: string) {
    return isSecretOf(this.secrets, presented);
  };
}
