// Challenges for passkeys (WebAuthn, section 13.4.3): made from what a form carries, so that nothing is kept until
// one is answered; each belongs to one page of one person, serves once and for ten minutes.

import { randomBytes } from "node:crypto";
import type { OAuthRecords } from "../../auth/tokens/oauth-records.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import { Hmac } from "../../lib/hmac.ts";

const lifetimeSeconds = 600;
const usedModel = "PasskeyChallenge";

export interface Challenge {
  /** What the authenticator signs, in base64url. */
  readonly challenge: string;
  /** What the form brings back, from which the challenge is made again. */
  readonly challengeToken: string;
}

export class PasskeyChallenges {
  readonly #key: Hmac;
  readonly #records: OAuthRecords;

  constructor(key: string, records: OAuthRecords) {
    this.#key = new Hmac(key);
    this.#records = records;
  }

  /** @param subject the request for authorization, or the session, that it serves */
  make(subject: string): Challenge {
    const challengeToken = `${epochSeconds() + lifetimeSeconds}.${randomBytes(16).toString("base64url")}`;
    return { challenge: this.#challenge(subject, challengeToken), challengeToken };
  }

  /** The challenge that must have been signed; undefined where it was used, or its time is over. */
  async redeem(subject: string, challengeToken: string): Promise<string | undefined> {
    const [, end] = /^(\d{10})\.[\w-]{22}$/.exec(challengeToken) ?? [];
    const expiresAt = Number(end);
    const now = epochSeconds();
    // One that ends later than any made now was made by nobody here.
    if (end === undefined || expiresAt <= now || expiresAt > now + lifetimeSeconds) return undefined;
    const challenge = this.#challenge(subject, challengeToken);
    const isFirst = await this.#records.add({ model: usedModel, value: challenge, payload: "{}", expiresAt });
    return isFirst ? challenge : undefined;
  }

  #challenge(subject: string, challengeToken: string): string {
    return this.#key.sign(`passkey ${subject} ${challengeToken}`);
  }
}
