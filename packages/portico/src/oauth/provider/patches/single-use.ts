// oidc-provider 9.13 finds a record first and then consumes, stores or destroys it, so that of concurrent requests with one
// code, refresh token, client assertion or interaction every one succeeds. Portico makes each of these steps one
// conditional statement: one request succeeds, the others fail as a replay does (RFC 6749, section 10.5; RFC 7523,
// section 3; RFC 9700, section 4.14).

import type { NewRecord } from "../../../auth/tokens/oauth-record-statements.ts";
import type { OAuthRecords } from "../../../auth/tokens/oauth-records.ts";
import type { Library } from "../library.ts";

const interactionAnswered = "this authorization request was answered already";

/** Consumes a code or token. If it was consumed before, what was issued for its grant is revoked. */
export async function consumeOnce(
  { errors }: Library,
  records: OAuthRecords,
  model: string,
  id: string,
): Promise<void> {
  if (await records.consume(model, id)) return;
  const record = await records.find(model, id);
  const grantId: unknown = record && JSON.parse(record.payload).grantId;
  if (typeof grantId === "string") await records.deleteGrant(grantId);
  if (model === "PushedAuthorizationRequest")
    throw new errors.InvalidRequestUri("request_uri was used already");
  throw new errors.InvalidGrant("it was used already");
}

/** Stores the id of a client assertion. @throws InvalidClientAuth if it is stored already */
export async function addAssertionOnce(
  { errors }: Library,
  records: OAuthRecords,
  record: NewRecord,
): Promise<void> {
  if (await records.add(record)) return;
  throw new errors.InvalidClientAuth("client assertion tokens must only be used once");
}

/** Stores the result of an interaction. @throws SessionNotFound if the authorization was answered meanwhile */
export async function updateInteraction(
  { errors }: Library,
  records: OAuthRecords,
  record: NewRecord,
): Promise<void> {
  if (await records.update(record)) return;
  throw new errors.SessionNotFound(interactionAnswered);
}

/** Ends an interaction. @throws SessionNotFound if a concurrent request has ended it */
export async function destroyInteractionOnce(
  { errors }: Library,
  records: OAuthRecords,
  id: string,
): Promise<void> {
  if (await records.delete("Interaction", id)) return;
  throw new errors.SessionNotFound(interactionAnswered);
}
