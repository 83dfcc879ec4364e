// Slows down those who guess: passwords by address, and by account and address together; codes of devices by address;
// and devices that ask too often whether they are connected. Those who have mails sent, too. Nothing that is sent from
// one address keeps an account from signing in at another.

import { setTimeout as sleep } from "node:timers/promises";
import type { Quota } from "../../declare/caller.ts";
import type { Quotas } from "../../limits/quota.ts";
import type { LinkPurpose } from "../../mail/account-emails.ts";
import { networkOf } from "../../net/network.ts";

/** Of one account, from one address. */
const ofPair: Quota = { limit: 10, windowSeconds: 600 };
/** Of one account, from all addresses; beyond it each try has to wait a little, and the person is told. */
const accountQuota: Quota = { limit: 50, windowSeconds: 600 };
const delayMs = 2_000;
/** Tries that wait at once. What comes beyond that does not wait, so that waiting costs a bounded amount of memory. */
const maxDelayed = 500;
const ofWarnings: Quota = { limit: 1, windowSeconds: 86_400 };
/** Many people may sit behind one address. */
const addressQuota: Quota = { limit: 100, windowSeconds: 600 };
/** Codes that people type in for their devices. */
const userCodeQuota: Quota = { limit: 30, windowSeconds: 600 };
/** Some clients send every poll twice, and some do not know `slow_down`: only those who ask each second meet it. */
const devicePollQuota: Quota = { limit: 12, windowSeconds: 12 };

/** Mails that an account is sent, and that an address has sent: nobody's mailbox is filled from here. */
const accountMailQuota: Quota = { limit: 3, windowSeconds: 900 };
const addressMailQuota: Quota = { limit: 20, windowSeconds: 900 };

export interface SignInAttempt {
  readonly tenantId: string;
  readonly email: string;
  readonly address: string;
}

export class BruteForceLimits {
  readonly #quotas: Quotas;
  readonly #clientQuota: Quota;
  #delayed = 0;

  /** @param clientQuota what an address may send of clients that fail to show who they are */
  constructor(quotas: Quotas, clientQuota: Quota) {
    this.#quotas = quotas;
    this.#clientQuota = clientQuota;
  }

  /** Counts a try to sign in, before it is made: many at once are many. @returns seconds to wait, 0 for none */
  async secondsToWait(attempt: SignInAttempt): Promise<number> {
    // The address first: one that is at its limit must not use up what others have for the account.
    const byAddress = await this.#quotas.take(addressKey(attempt), addressQuota);
    if (!byAddress.isAllowed) return byAddress.secondsToNext;
    return (await this.#quotas.take(pairKey(attempt), ofPair)).secondsToNext;
  }

  /**
   * Delays a try that was counted, where too many wrong ones came for its account from everywhere. It happens before
   * anything is hashed. @returns whether the person is to be told, which is once a day
   */
  async delay(attempt: SignInAttempt): Promise<boolean> {
    if ((await this.#quotas.take(accountKey(attempt), accountQuota)).isAllowed) return false;
    const isReported = (await this.#quotas.take(`warning ${accountKey(attempt)}`, ofWarnings)).isAllowed;
    if (this.#delayed >= maxDelayed) return isReported;
    this.#delayed += 1;
    await sleep(delayMs);
    this.#delayed -= 1;
    return isReported;
  }

  /** A try that was none: the person knew their password. */
  async refund(attempt: SignInAttempt): Promise<void> {
    await this.#quotas.take(addressKey(attempt), addressQuota, -1);
    await this.#quotas.take(pairKey(attempt), ofPair, -1);
    await this.#quotas.take(accountKey(attempt), accountQuota, -1);
  }

  /**
   * Counts a mail that is requested, whether or not there is such an account. Mails to new passwords, which anybody can
   * request, leave those that people request for themselves alone.
   *
   * @returns seconds to wait, 0 for none
   */
  async secondsToWaitForMail(attempt: SignInAttempt, purpose: LinkPurpose): Promise<number> {
    const byAddress = await this.#quotas.take(`mail ${addressKey(attempt)}`, addressMailQuota);
    if (!byAddress.isAllowed) return byAddress.secondsToNext;
    return (await this.#quotas.take(`mail ${purpose} ${accountKey(attempt)}`, accountMailQuota))
      .secondsToNext;
  }

  /** Counts what comes from an address to a path. @returns seconds to wait, 0 for none */
  async secondsToWaitAt(path: string, address: string, quota: Quota): Promise<number> {
    return (await this.#quotas.take(`${path} ${networkOf(address)}`, quota)).secondsToNext;
  }

  /** Counts a form with the code of a device. @returns seconds to wait, 0 for none */
  secondsToWaitForCode(address: string): Promise<number> {
    return this.secondsToWaitAt("code", address, userCodeQuota);
  }

  /** A code that was no guess: there is a device that shows it. */
  async refundCode(address: string): Promise<void> {
    await this.#quotas.take(`code ${networkOf(address)}`, userCodeQuota, -1);
  }

  /** Counts a client that failed to show who it is. @returns seconds to wait, 0 for none */
  secondsToWaitForClient(address: string): Promise<number> {
    return this.secondsToWaitAt("client", address, this.#clientQuota);
  }

  /** Whether a device asks far more often than it was told to. */
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
