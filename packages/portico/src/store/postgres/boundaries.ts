// Begins and ends a transaction with few round trips: `begin` is sent together with a first statement that only reads, and
// `commit` together with a last one that changes nothing outside the transaction.

import type { ColumnValues } from "../database.ts";
import type { Connection } from "./connection.ts";
import { rowsGone, unknownOutcome } from "./failures.ts";

type State = "unused" | "open" | "ending" | "ended";
type Send<T> = () => Promise<T>;

export class Boundaries {
  readonly #connection: Connection;
  #state: State = "unused";
  #begun: Promise<void> | undefined;
  #ended: Promise<unknown> | undefined;
  #hasWritten = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Whether `commit` was sent, so that the transaction cannot be rolled back. */
  get isEnding(): boolean {
    return this.#state === "ending" || this.#state === "ended";
  }

  /** Runs a statement in the transaction, which begins with the first one. */
  async run<T>(isRead: boolean, send: Send<T>): Promise<T> {
    this.#requireOpen();
    this.#hasWritten ||= !isRead;
    const isFirst = this.#begun === undefined;
    this.#state = "open";
    this.#begun ??= this.#connection.run("begin");
    // If `begin` fails, what is sent together with it is not part of the transaction, so that must not write.
    if (isFirst && isRead) return (await Promise.all([send(), this.#begun]))[0];
    await this.#begun;
    // The time of the work may have ended meanwhile.
    this.#requireOpen();
    return send();
  }

  /**
   * Runs the last statement, which returns a row, and ends the transaction with it if that is safe.
   *
   * @param needsTransaction whether it returns no row outside the transaction. The driver sends a statement again if its
   * plan has become invalid, and by then `commit` has been sent
   * @throws an error after which the transaction is to be tried again, if it returned no row for this reason
   */
  async runLast(
    needsTransaction: boolean,
    send: Send<readonly ColumnValues[]>,
  ): Promise<readonly ColumnValues[]> {
    // A statement alone is a transaction of its own. On a connection that cannot be opened it has certainly not run.
    if (this.#state === "unused" && this.#connection.hasAnswered) return this.#end(send());
    // If the statement cannot be sent, for example because of a value, `commit` must not keep what was written before.
    if (!needsTransaction || this.#hasWritten || !this.#begun) return this.run(false, send);
    await this.#begun;
    this.#requireOpen();
    const [rows] = await this.#end(Promise.all([send(), this.#connection.run("commit")]));
    if (rows.length === 0) throw rowsGone();
    return rows;
  }

  async commit(): Promise<void> {
    if (this.#state === "open") await this.#end(this.#connection.run("commit"));
    this.#state = "ended";
  }

  /** Rolls back, or waits for the end of a transaction that is ending. */
  async rollBack(): Promise<void> {
    const isOpen = this.#state === "open";
    this.#state = "ended";
    if (isOpen) {
      // If the rollback fails, the connection is closed and the server rolls back.
      await this.#connection.run("rollback").catch(() => this.#connection.destroy());
    }
    await this.#ended?.catch(() => {});
  }

  #requireOpen(): void {
    if (this.isEnding) throw new Error("the transaction has ended");
  }

  /** @throws Problem if the connection is lost, so that the outcome is unknown */
  async #end<T>(ended: Promise<T>): Promise<T> {
    this.#state = "ending";
    this.#ended = ended;
    try {
      return await ended;
    } catch (error) {
      throw this.#connection.isLost ? unknownOutcome(error) : error;
    } finally {
      this.#state = "ended";
    }
  }
}
