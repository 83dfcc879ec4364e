// The order in which events are read. PostgreSQL numbers events before they are committed, so a lower number can become
// visible after a higher one. There, events are ordered by the transaction that wrote them first: once every transaction
// up to one has ended, nothing can be added before it. SQLite has one writer, so the number alone is the order.

/** The position of an event among all events: opaque to clients, which resume after it. */
export class Position {
  /** Before all events. */
  static readonly start = new Position(0, 0);

  /** The transaction that wrote the event; 0 on SQLite, and for events that are older than this column. */
  readonly transactionId: number;
  readonly sequence: number;

  constructor(transactionId: number, sequence: number) {
    this.transactionId = transactionId;
    this.sequence = sequence;
  }

  /** The position after all events of the transactions before this one. */
  static before(transactionId: number): Position {
    return new Position(transactionId - 1, Number.MAX_SAFE_INTEGER);
  }

  /** @returns undefined if the text is not a position */
  static parse(text: string): Position | undefined {
    const [, transactionId = "0", sequence] = /^(?:(\d{1,15})-)?(\d{1,15})$/.exec(text) ?? [];
    return sequence === undefined ? undefined : new Position(Number(transactionId), Number(sequence));
  }

  static latest(one: Position, other: Position): Position {
    return other.isAfter(one) ? other : one;
  }

  static earliest(one: Position, other: Position): Position {
    return other.isAfter(one) ? one : other;
  }

  /** The position just before this one. */
  get previous(): Position {
    return new Position(this.transactionId, this.sequence - 1);
  }

  isAfter({ transactionId, sequence }: Position): boolean {
    return (
      this.transactionId > transactionId || (this.transactionId === transactionId && this.sequence > sequence)
    );
  }

  /** `7`, or `745-7` on PostgreSQL; `746-0` for the position after all events of 745 */
  toString(): string {
    if (this.sequence === Number.MAX_SAFE_INTEGER) return `${this.transactionId + 1}-0`;
    return this.transactionId === 0 ? String(this.sequence) : `${this.transactionId}-${this.sequence}`;
  }
}
