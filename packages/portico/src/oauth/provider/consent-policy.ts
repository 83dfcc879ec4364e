// When a user has to sign in, and what they have granted already.

import type { Grant, KoaContextWithOIDC } from "oidc-provider";
import type { UserLookup } from "../../auth/users/lookup.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import type { Library } from "./library.ts";
import { restoreScopes } from "./scopes-of-role.ts";

/** The library's policy, with sign-in required where the session's user is of another tenant than the client. */
export function signInPolicy({ interactionPolicy }: Library, users: UserLookup) {
  const policy = interactionPolicy.base();
  const { Check } = interactionPolicy;
  policy.get("login")?.checks.add(
    new Check("other_tenant", "End-User authentication is required", "login_required", async ({ oidc }) => {
      const { session, client } = oidc;
      if (!session?.accountId || !client) return Check.NO_NEED_TO_PROMPT;
      const user = await users.find(session.accountId);
      return user?.tenantId === client["tenant_id"] ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
    }),
  );
  return policy;
}

/**
 * Marks grants to first-party clients as resources of the grant, because no user consented to them. If such a client
 * needs consent later, its marked grants do not count.
 */
const consentNotRequested = "urn:portico:unasked";

/** The grant of the session's user to the client. First-party clients are granted what they request. */
export async function existingGrant(
  { oidc }: KoaContextWithOIDC,
  issuer: Issuer,
  users: UserLookup,
): Promise<Grant | undefined> {
  const { client, session, provider } = oidc;
  const grantId = oidc.result?.consent?.grantId ?? session?.grantIdFor(client!.clientId);
  const storedGrant = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  if (client!["requires_consent"] !== false) {
    if (!storedGrant || storedGrant.resources?.[consentNotRequested]) return undefined;
    const user = await users.find(session?.accountId ?? "");
    if (restoreScopes(storedGrant, issuer, user?.role)) await storedGrant.save();
    return storedGrant;
  }
  if (!session?.accountId) return storedGrant;
  const grant =
    storedGrant ?? new provider.Grant({ accountId: session.accountId, clientId: client!.clientId });
  grant.addOIDCScope([...oidc.requestParamScopes].join(" "));
  for (const resource of Object.keys(oidc.resourceServers ?? {}))
    grant.addResourceScope(resource, [...oidc.requestParamScopes].join(" "));
  grant.addResourceScope(consentNotRequested, "yes");
  await grant.save();
  return grant;
}
