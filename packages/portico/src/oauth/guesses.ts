// Slows down those who guess: passwords by address, and by account and address together; codes of devices by address;
// and devices that ask too often whether they are connected. Those who have mails sent, too. Nothing that is sent from
// one address keeps an account from signing in at another.

import { setTimeout as sleep } from "node:timers/promises";
import type { Quota } from "../declare/caller.ts";
import { networkOf } from "../limits/network.ts";
import type { Quotas } from "../limits/quota.ts";

/** Of one account, from one address. */
const ofPair: Quota = { limit: 10, windowSeconds: 600 };
/** Of one account, from all addresses; beyond it each try has to wait a little, and the person is told. */
const ofAccount: Quota = { limit: 50, windowSeconds: 600 };
const delayMs = 2_000;
/** Tries that wait at once. What comes beyond that does not wait, so that waiting costs a bounded amount of memory. */
const maxDelayed = 500;
const ofWarnings: Quota = { limit: 1, windowSeconds: 86_400 };
/** Many people may sit behind one address. */
const ofAddress: Quota = { limit: 100, windowSeconds: 600 };
/** Codes that people type in for their devices. */
const ofCodes: Quota = { limit: 30, windowSeconds: 600 };
/** Some clients send every poll twice, and some do not know `slow_down`: only those who ask each second meet it. */
const ofPolls: Quota = { limit: 12, windowSeconds: 12 };

/** Mails that an account is sent, and that an address has sent: nobody's mailbox is filled from here. */
const ofMailsToAccount: Quota = { limit: 3, windowSeconds: 900 };
const ofMailsByAddress: Quota = { limit: 20, windowSeconds: 900 };

export interface Try {
  readonly tenantId: string;
  readonly email: string;
  readonly address: string;
}

export class Guesses {
  readonly #quotas: Quotas;
  readonly #ofClients: Quota;
  #delayed = 0;

  /** @param ofClients what an address may send of clients that fail to show who they are */
  constructor(quotas: Quotas, ofClients: Quota) {
    this.#quotas = quotas;
    this.#ofClients = ofClients;
  }

  /** Counts a try to sign in, before it is made: many at once are many. @returns seconds to wait, 0 for none */
  async secondsToWait(tried: Try): Promise<number> {
    // The address first: one that is at its limit must not use up what others have for the account.
    const byAddress = await this.#quotas.take(addressKey(tried), ofAddress);
    if (!byAddress.isAllowed) return byAddress.secondsToNext;
    return (await this.#quotas.take(pairKey(tried), ofPair)).secondsToNext;
  }

  /**
   * Delays a try that was counted, where too many wrong ones came for its account from everywhere. It happens before
   * anything is hashed. @returns whether the person is to be told, which is once a day
   */
  async delay(tried: Try): Promise<boolean> {
    if ((await this.#quotas.take(accountKey(tried), ofAccount)).isAllowed) return false;
    const isTold = (await this.#quotas.take(`warning ${accountKey(tried)}`, ofWarnings)).isAllowed;
    if (this.#delayed >= maxDelayed) return isTold;
    this.#delayed += 1;
    await sleep(delayMs);
    this.#delayed -= 1;
    return isTold;
  }

  /** A try that was none: the person knew their password. */
  async forgive(tried: Try): Promise<void> {
    await this.#quotas.take(addressKey(tried), ofAddress, -1);
    await this.#quotas.take(pairKey(tried), ofPair, -1);
    await this.#quotas.take(accountKey(tried), ofAccount, -1);
  }

  /** Counts a mail that is asked for, whether or not there is such an account. @returns seconds to wait, 0 for none */
  async secondsToWaitForMail(tried: Try): Promise<number> {
    const byAddress = await this.#quotas.take(`mail ${addressKey(tried)}`, ofMailsByAddress);
    if (!byAddress.isAllowed) return byAddress.secondsToNext;
    return (await this.#quotas.take(`mail ${accountKey(tried)}`, ofMailsToAccount)).secondsToNext;
  }

  /** Counts what comes from an address to a path. @returns seconds to wait, 0 for none */
  async secondsToWaitAt(path: string, address: string, quota: Quota): Promise<number> {
    return (await this.#quotas.take(`${path} ${networkOf(address)}`, quota)).secondsToNext;
  }

  /** Counts a form with the code of a device. @returns seconds to wait, 0 for none */
  secondsToWaitForCode(address: string): Promise<number> {
    return this.secondsToWaitAt("code", address, ofCodes);
  }

  /** A code that was no guess: there is a device that shows it. */
  async forgiveCode(address: string): Promise<void> {
    await this.#quotas.take(`code ${networkOf(address)}`, ofCodes, -1);
  }

  /** Counts a client that failed to show who it is. @returns seconds to wait, 0 for none */
  secondsToWaitForClient(address: string): Promise<number> {
    return this.secondsToWaitAt("client", address, this.#ofClients);
  }

  /** Whether a device asks far more often than it was told to. */
  async isImpatient(deviceCode: string): Promise<boolean> {
    return !(await this.#quotas.take(`poll ${deviceCode}`, ofPolls)).isAllowed;
  }
}

function accountKey({ tenantId, email }: Try): string {
  return `account ${tenantId} ${email.trim().toLowerCase().slice(0, 254)}`;
}

function pairKey(tried: Try): string {
  return `${accountKey(tried)} ${addressKey(tried)}`;
}

function addressKey({ address }: Try): string {
  return `sign-in ${networkOf(address)}`;
}
