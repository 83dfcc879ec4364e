// Sends due mails in the background, so that no request waits for a mail server. A mail that the server does not accept
// is tried again later. If the process dies while it sends a mail, another process takes it over at the end of the lease.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { deliveryRetries } from "../jobs/retry-schedule.ts";
import type { LeasedMail, Outbox, SendOutcome } from "./outbox.ts";
import { DeliveryError, maxConcurrentSends, type Transport } from "./transport.ts";

/** Where the sender logs each attempt: a logger of pino, for example. */
export interface SenderLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/**
 * Send timeout and lease duration. The lease is longer, so that the outcome is recorded before another sender can take
 * the mail.
 */
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

  /** Starts to send due mails, up to the number that may be sent at once. Call it periodically. */
  async poll(): Promise<void> {
    for (const mail of await this.#lease(maxConcurrentSends - this.#sending.size)) {
      const sending = this.#sendAndContinue(mail).finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    }
  }

  /** Waits for the mails that are being sent. After the timeout they are aborted and become due again. */
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

  /** Continues with the next due mail, unless the server did not accept this one: then others may fail as well. */
  async #sendAndContinue(first: LeasedMail): Promise<void> {
    for (let mail: LeasedMail | undefined = first; mail; ) {
      const status = await this.#send(mail);
      if (status === "waiting") return;
      // The next poll reports a database that does not answer.
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
    // Operators read `lastError`; the message of an internal error is not meant for them.
    const lastError = error instanceof DeliveryError ? error.message : "internal error";
    if (this.#stopping.signal.aborted) return { status: "waiting", at, lastError };
    const delay =
      error instanceof DeliveryError && error.isPermanent ? undefined : deliveryRetries.delayAfter(attempts);
    if (delay === undefined) return { status: "failed", at, lastError };
    return { status: "waiting", at, nextAttemptAt: timestampOf(now + delay), lastError };
  }

  /** Retries until the lease ends, because without an outcome the mail is sent again. */
  async #recordOutcome(mail: LeasedMail, outcome: SendOutcome): Promise<void> {
    for (;;) {
      try {
        return await this.#outbox.complete(mail, outcome);
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
