// Sends what is due, beside the requests: none waits for a mail server. A mail whose server does not take it is
// tried again later; one that was under way when a process died is taken by another when its lease has ended.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { retryDelayAfter } from "../jobs/retry-schedule.ts";
import type { LeasedMail, Outbox, SendOutcome } from "./outbox.ts";
import { DeliveryError, maxConcurrentSends, type Transport } from "./transport.ts";

/** What the sender tells whoever runs it; pino's logger is one. */
export interface SenderLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** The longest that one mail may take, and for how long it is taken: an outcome must be written before the end. */
const sendTimeoutMs = 60_000;
const leaseMs = 120_000;
const recordRetryDelayMs = 1_000;

export class MailSender {
  readonly #outbox: Outbox;
  readonly #transport: Transport;
  readonly #log: SenderLog;
  readonly #now: () => number;
  readonly #sending = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #isStopping = false;

  constructor(outbox: Outbox, transport: Transport, log: SenderLog, now: () => number = Date.now) {
    this.#outbox = outbox;
    this.#transport = transport;
    this.#log = log;
    this.#now = now;
  }

  /** Begins to send what is due, as much as may be under way at once. Call it again when it has answered. */
  async poll(): Promise<void> {
    for (const mail of await this.#lease(maxConcurrentSends - this.#sending.size)) {
      const sending = this.#sendAndContinue(mail).finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    }
  }

  /** Finishes what is under way; what takes longer is given back, to be sent by the next to look. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    const timeout = setTimeout(() => this.#stopping.abort(), timeoutMs);
    await Promise.all(this.#sending);
    clearTimeout(timeout);
    this.#transport.close();
  }

  async #lease(count: number): Promise<readonly LeasedMail[]> {
    const now = this.#now();
    if (this.#isStopping || count === 0 || !(await this.#outbox.isAnyDue(timestampOf(now)))) return [];
    return this.#outbox.lease(count, {
      id: randomUUID(),
      from: timestampOf(now),
      until: timestampOf(now + leaseMs),
    });
  }

  /** Many mails that are due do not wait for the next look; a server that takes none is not asked for each at once. */
  async #sendAndContinue(first: LeasedMail): Promise<void> {
    for (let mail: LeasedMail | undefined = first; mail; ) {
      const status = await this.#send(mail);
      if (status === "waiting") return;
      // Where the database does not answer, the next look tells.
      [mail] = await this.#lease(1).catch(() => []);
    }
  }

  async #send(mail: LeasedMail): Promise<SendOutcome["status"]> {
    const { id, kind, attempts } = mail;
    const outcome = await this.#attempt(mail);
    const { status, lastError, nextAttemptAt } = outcome;
    if (status === "sent") this.#log.info({ mailId: id, kind, attempts }, "mail sent");
    else this.#log.warn({ mailId: id, kind, attempts, error: lastError, nextAttemptAt }, "mail not sent");
    await this.#recordOutcome(mail, outcome);
    return status;
  }

  async #attempt(mail: LeasedMail): Promise<SendOutcome> {
    try {
      const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(sendTimeoutMs)]);
      await this.#transport.send(mail, signal);
      return { status: "sent", at: timestampOf(this.#now()), lastError: null };
    } catch (error) {
      return this.#failure(mail, error);
    }
  }

  #failure({ attempts }: LeasedMail, error: unknown): SendOutcome {
    const now = this.#now();
    const at = timestampOf(now);
    // A fault of ours is no secret, but what it says was not made for this place.
    const lastError = error instanceof DeliveryError ? error.message : "internal error";
    if (this.#stopping.signal.aborted) return { status: "waiting", at, lastError };
    const delay = error instanceof DeliveryError && error.isPermanent ? undefined : retryDelayAfter(attempts);
    if (delay === undefined) return { status: "failed", at, lastError };
    return { status: "waiting", at, nextAttemptAt: timestampOf(now + delay), lastError };
  }

  /** A database that does not answer for a moment must not have the mail sent again. */
  async #recordOutcome(mail: LeasedMail, outcome: SendOutcome): Promise<void> {
    for (;;) {
      try {
        return await this.#outbox.recordOutcome(mail, outcome);
      } catch (error) {
        const isLost = this.#isStopping || timestampOf(this.#now()) > mail.lease.until;
        this.#log.warn({ mailId: mail.id, err: error }, "the outcome of a mail could not be written");
        if (isLost) return;
        await sleep(recordRetryDelayMs);
      }
    }
  }
}

function timestampOf(time: number): string {
  return new Date(time).toISOString();
}
