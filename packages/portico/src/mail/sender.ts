// Sends due emails in the background, so that no request waits for a mail server. An email that the server does not accept
// is tried again later. If the process dies while it sends an email, another process takes it over at the end of the lease.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { deliveryRetries } from "../jobs/retry-schedule.ts";
import { timestampOf } from "../lib/timestamp.ts";
import type { LeasedEmail, Outbox, SendOutcome } from "./outbox.ts";
import { DeliveryError, maxConcurrentSends, type Transport } from "./transport.ts";

/** Where the sender logs each attempt: a logger of pino, for example. */
export interface SenderLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/**
 * Send timeout and lease duration. The lease is longer, so that the outcome is recorded before another sender can take
 * the email.
 */
const sendTimeoutMs = 60_000;
const leaseMs = 120_000;
const recordRetryDelayMs = 1_000;

export class EmailSender {
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

  /** Starts to send due emails, up to the number that may be sent at once. Call it periodically. */
  async poll(): Promise<void> {
    for (const email of await this.#lease(maxConcurrentSends - this.#sending.size)) {
      const sending = this.#sendAndContinue(email).finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    }
  }

  /** Waits for the emails that are being sent. After the timeout they are aborted and become due again. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    const timeout = setTimeout(() => this.#stopping.abort(), timeoutMs);
    await Promise.all(this.#sending);
    clearTimeout(timeout);
    this.#transport.close();
  }

  async #lease(count: number): Promise<readonly LeasedEmail[]> {
    const now = this.#now();
    if (this.#isStopping || count === 0 || !(await this.#outbox.isAnyDue(timestampOf(now)))) return [];
    return this.#outbox.lease(count, {
      id: randomUUID(),
      from: timestampOf(now),
      until: timestampOf(now + leaseMs),
    });
  }

  /** Continues with the next due email, unless the server did not accept this one: then others may fail as well. */
  async #sendAndContinue(first: LeasedEmail): Promise<void> {
    for (let email: LeasedEmail | undefined = first; email; ) {
      const status = await this.#send(email);
      if (status === "waiting") return;
      // The next poll reports a database that does not answer.
      [email] = await this.#lease(1).catch(() => []);
    }
  }

  async #send(email: LeasedEmail): Promise<SendOutcome["status"]> {
    const { id, kind, attempts } = email;
    const outcome = await this.#attempt(email);
    const { status, lastError, nextAttemptAt } = outcome;
    if (status === "sent") this.#log.info({ mailId: id, kind, attempts }, "mail sent");
    else this.#log.warn({ mailId: id, kind, attempts, error: lastError, nextAttemptAt }, "mail not sent");
    await this.#recordOutcome(email, outcome);
    return status;
  }

  async #attempt(email: LeasedEmail): Promise<SendOutcome> {
    try {
      const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(sendTimeoutMs)]);
      await this.#transport.send(email, signal);
      return { status: "sent", at: timestampOf(this.#now()), lastError: null };
    } catch (error) {
      return this.#failure(email, error);
    }
  }

  #failure({ attempts }: LeasedEmail, error: unknown): SendOutcome {
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

  /** Retries until the lease ends, because without an outcome the email is sent again. */
  async #recordOutcome(email: LeasedEmail, outcome: SendOutcome): Promise<void> {
    for (;;) {
      try {
        return await this.#outbox.complete(email, outcome);
      } catch (error) {
        const isLost = this.#isStopping || timestampOf(this.#now()) > email.lease.until;
        this.#log.warn({ mailId: email.id, err: error }, "the outcome of an email could not be written");
        if (isLost) return;
        await sleep(recordRetryDelayMs);
      }
    }
  }
}
