// Challenges for passkeys (WebAuthn, section 13.4.3). A challenge is derived from a token in the form, so nothing is
// stored until it is used. It belongs to one interaction or session, can be used once, and expires after ten minutes.

import { randomBytes } from "node:crypto";
import type { OAuthRecords } from "../../auth/tokens/oauth-records.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import { Hmac } from "../../lib/hmac.ts";

const lifetimeSeconds = 600;
const usedModel = "PasskeyChallenge";

export interface Challenge {
  /** The bytes that the authenticator signs, in base64url. */
  readonly challenge: string;
  /** The value in the form from which the challenge is derived again. */
  readonly challengeToken: string;
}

export class PasskeyChallenges {
  readonly #key: Hmac;
  readonly #records: OAuthRecords;

  constructor(key: string, records: OAuthRecords) {
    this.#key = new Hmac(key);
    this.#records = records;
  }

  /** @param subject the interaction or session that the challenge belongs to */
  make(subject: string): Challenge {
    const challengeToken = `${epochSeconds() + lifetimeSeconds}.${randomBytes(16).toString("base64url")}`;
    return { challenge: this.#challenge(subject, challengeToken), challengeToken };
  }

  /** The challenge of a token, which cannot be used again; undefined if it was used before or has expired. */
  async redeem(subject: string, challengeToken: string): Promise<string | undefined> {
    const [, end] = /^(\d{10})\.[\w-]{22}$/.exec(challengeToken) ?? [];
    const expiresAt = Number(end);
    const now = epochSeconds();
    // A later expiry than that of a new token is forged.
    if (end === undefined || expiresAt <= now || expiresAt > now + lifetimeSeconds) return undefined;
    const challenge = this.#challenge(subject, challengeToken);
    const isFirst = await this.#records.add({ model: usedModel, value: challenge, payload: "{}", expiresAt });
    return isFirst ? challenge : undefined;
  }

  #challenge(subject: string, challengeToken: string): string {
    return this.#key.sign(`passkey ${subject} ${challengeToken}`);
  }
}
