// What subscriptions are fed from: the events of all doors and processes, as they are recorded.

export interface RecordedEvent {
  /** Its place among all events. */
  readonly sequence: number;
  readonly tenantId: string;
  /** The name of the resource. */
  readonly resource: string;
  /** `post.created` */
  readonly kind: string;
  readonly rowId: string;
  /** The row after the write (before it, where it was removed), as JSON text. */
  readonly row: string;
}

export interface EventSource {
  /** Calls `listener` with every event from now on, in their order. @returns what ends it */
  listen(listener: (events: readonly RecordedEvent[]) => Promise<void>): Promise<() => void>;
  /** All events up to this number are told, or being told. */
  readonly told: number;
  /** The numbers above one that can be seen already. */
  seenAfter(told: number): Promise<ReadonlySet<number>>;
  /** Events that were told before, oldest first; some at once, none at the end. */
  stretch(stretch: {
    readonly tenantId: string;
    readonly resource: string;
    readonly after: number;
    readonly until: number;
  }): Promise<readonly RecordedEvent[]>;
}
