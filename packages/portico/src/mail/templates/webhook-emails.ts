// The email about a webhook endpoint that the server has disabled.

import { type Email, renderEmail, truncated, utc } from "./layout.ts";

export interface DisabledEndpointFacts {
  readonly apiName: string;
  readonly userName: string;
  readonly url: string;
  readonly endpointId: string;
  readonly reason: "gone" | "failing" | "credential_revoked";
  readonly at: string;
}

const reasons: Readonly<Record<DisabledEndpointFacts["reason"], string>> = {
  gone: "It answered 410 Gone, which means that it wants no more events.",
  failing: "Every delivery to it has failed for five days.",
  credential_revoked:
    "The credential that it was created or changed with is no longer valid: it was revoked or has expired, or its user was deactivated.",
};

const remedies: Readonly<Record<DisabledEndpointFacts["reason"], string>> = {
  gone: "To receive events again, set its status to enabled.",
  failing:
    "Make sure that it answers with a status from 200 to 299 within 15 seconds, then set its status to enabled.",
  credential_revoked: "To take it over with another credential, send its url and the status enabled.",
};

const maxUrlLength = 200;
const maxUrlLengthInSubject = 80;

export function endpointDisabledEmail(facts: DisabledEndpointFacts): Email {
  const { apiName, userName, url, endpointId, reason, at } = facts;
  return renderEmail({
    subject: `Webhook endpoint ${truncated(url, maxUrlLengthInSubject)} was disabled`,
    greeting: `Hello ${truncated(userName, 100)},`,
    opening: `${apiName} no longer sends events to one of your webhook endpoints. ${reasons[reason]}`,
    facts: [
      ["URL", truncated(url, maxUrlLength)],
      ["Endpoint", endpointId],
      ["Disabled", utc(at)],
    ],
    advice: [
      { sentence: remedies[reason] },
      { sentence: "Events that it has missed are sent by a replay, as long as they are kept." },
    ],
  });
}
