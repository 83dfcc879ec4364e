// Whether the signed URL of an upload is still valid: it is as long as the credential that announced the file is, and the
// user behind it may sign in.

import type { Principal, Principals } from "../auth/principal.ts";

/**
 * @param credentialId of the credential that has announced the file
 * @param uploader as `uploaderOf` has named it
 */
export type CanUpload = (tenantId: string, credentialId: string, uploader: string) => Promise<boolean>;

export function canUploadBy(principals: Principals): CanUpload {
  return async (tenantId, credentialId, uploader) => {
    const principal = principalOf(tenantId, credentialId, uploader);
    return principal === undefined || (await principals.current(principal)) !== undefined;
  };
}

/** Undefined for a client of another issuer, of which this server knows nothing. */
function principalOf(tenantId: string, credentialId: string, uploader: string): Principal | undefined {
  if (credentialId.startsWith("api_key_")) return { kind: "key", tenantId, keyId: credentialId };
  if (uploader.startsWith("user_")) return { kind: "user", tenantId, userId: uploader };
  if (uploader.startsWith("client_")) return { kind: "client", tenantId, clientId: uploader, scopes: [] };
  return undefined;
}
