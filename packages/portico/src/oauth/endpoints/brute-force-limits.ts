// Limits against brute force: password attempts by network address, and by account and address; user codes and client
// secrets by address; polling by device code; requested emails. No requests from one address can keep an account from
// signing in from another.

import { setTimeout as sleep } from "node:timers/promises";
import type { Quota } from "../../declare/caller.ts";
import type { Quotas } from "../../limits/quota.ts";
import type { LinkPurpose } from "../../mail/account-emails.ts";
import { networkOf } from "../../net/network.ts";

/** Attempts for one account from one address. */
const pairQuota: Quota = { limit: 10, windowSeconds: 600 };
/** Attempts for one account from all addresses. Beyond it each attempt is delayed, and the user is warned by email. */
const accountQuota: Quota = { limit: 50, windowSeconds: 600 };
const delayMs = 2_000;
/** Attempts that are delayed at the same time. Further ones are not delayed, which bounds the memory. */
const maxDelayed = 500;
const warningQuota: Quota = { limit: 1, windowSeconds: 86_400 };
/** Attempts from one address, which many users may share. */
const addressQuota: Quota = { limit: 100, windowSeconds: 600 };
/** User codes from one address. */
const userCodeQuota: Quota = { limit: 30, windowSeconds: 600 };
/** Some clients send every poll twice, and some do not know `slow_down`: only polling every second exceeds this. */
const devicePollQuota: Quota = { limit: 12, windowSeconds: 12 };

/** Emails to one account, and emails requested from one address. */
const accountEmailQuota: Quota = { limit: 3, windowSeconds: 900 };
const addressEmailQuota: Quota = { limit: 20, windowSeconds: 900 };

export interface SignInAttempt {
  readonly tenantId: string;
  readonly email: string;
  readonly address: string;
}

export class BruteForceLimits {
  readonly #quotas: Quotas;
  readonly #clientQuota: Quota;
  #delayed = 0;

  /** @param clientQuota failed client authentications allowed from one address */
  constructor(quotas: Quotas, clientQuota: Quota) {
    this.#quotas = quotas;
    this.#clientQuota = clientQuota;
  }

  /** Counts a sign-in attempt before it is made, so that concurrent ones count. @returns seconds to wait, 0 for none */
  async secondsToWait(attempt: SignInAttempt): Promise<number> {
    // The address first: beyond its limit it must not use up the quota of the account.
    const byAddress = await this.#quotas.take(addressKey(attempt), addressQuota);
    if (!byAddress.isAllowed) return byAddress.secondsToNext;
    return (await this.#quotas.take(pairKey(attempt), pairQuota)).secondsToNext;
  }

  /**
   * Delays a counted attempt if its account had too many failed ones from all addresses. Called before hashing.
   *
   * @returns whether to warn the user by email, at most once a day
   */
  async delay(attempt: SignInAttempt): Promise<boolean> {
    if ((await this.#quotas.take(accountKey(attempt), accountQuota)).isAllowed) return false;
    const shouldWarn = (await this.#quotas.take(`warning ${accountKey(attempt)}`, warningQuota)).isAllowed;
    if (this.#delayed >= maxDelayed) return shouldWarn;
    this.#delayed += 1;
    await sleep(delayMs);
    this.#delayed -= 1;
    return shouldWarn;
  }

  /** Takes back a counted attempt, because the password was correct. */
  async refund(attempt: SignInAttempt): Promise<void> {
    await this.#quotas.take(addressKey(attempt), addressQuota, -1);
    await this.#quotas.take(pairKey(attempt), pairQuota, -1);
    await this.#quotas.take(accountKey(attempt), accountQuota, -1);
  }

  /**
   * Counts a requested email, whether or not the account exists. Purposes are counted apart: password links, which
   * strangers can request, do not use up the quota of the emails that users request for themselves.
   *
   * @returns seconds to wait, 0 for none
   */
  async secondsToWaitForEmail(
    attempt: SignInAttempt,
    purpose: LinkPurpose | "sign_up" | "change",
  ): Promise<number> {
    const byAddress = await this.#quotas.take(`mail ${addressKey(attempt)}`, addressEmailQuota);
    if (!byAddress.isAllowed) return byAddress.secondsToNext;
    return (await this.#quotas.take(`mail ${purpose} ${accountKey(attempt)}`, accountEmailQuota))
      .secondsToNext;
  }

  /** Counts a request from an address to a path. @returns seconds to wait, 0 for none */
  async secondsToWaitAt(path: string, address: string, quota: Quota): Promise<number> {
    return (await this.#quotas.take(`${path} ${networkOf(address)}`, quota)).secondsToNext;
  }

  /** Counts a submitted user code. @returns seconds to wait, 0 for none */
  secondsToWaitForCode(address: string): Promise<number> {
    return this.secondsToWaitAt("code", address, userCodeQuota);
  }

  /** Takes back a counted user code, because a device shows it. */
  async refundCode(address: string): Promise<void> {
    await this.#quotas.take(`code ${networkOf(address)}`, userCodeQuota, -1);
  }

  /** Counts a failed client authentication. @returns seconds to wait, 0 for none */
  secondsToWaitForClient(address: string): Promise<number> {
    return this.secondsToWaitAt("client", address, this.#clientQuota);
  }

  /** Counts a poll. @returns whether the device polls far more often than the interval allows */
  async pollsTooFast(deviceCode: string): Promise<boolean> {
    return !(await this.#quotas.take(`poll ${deviceCode}`, devicePollQuota)).isAllowed;
  }
}

function accountKey({ tenantId, email }: SignInAttempt): string {
  return `account ${tenantId} ${email.trim().toLowerCase().slice(0, 254)}`;
}

function pairKey(attempt: SignInAttempt): string {
  return `${accountKey(attempt)} ${addressKey(attempt)}`;
}

function addressKey({ address }: SignInAttempt): string {
  return `sign-in ${networkOf(address)}`;
}
