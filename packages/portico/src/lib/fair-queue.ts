// Bounds how much work runs at once. Work belongs to groups (tenants, for example), which take turns: a group with much
// work delays its own work only.

export type RefusalReason =
  /** Too much work of the group is waiting. */
  | "groupFull"
  /** Too much work is waiting in total. */
  | "full"
  /** The work waited for `maxWaitMs` and was not started. */
  | "waitTimedOut"
  /** The work runs longer than `timeoutMs`. */
  | "timedOut";

/** Bounds on waiting work, for all groups together or for one group. */
export interface WaitingBounds {
  readonly count: number;
  /** Sum of the sizes passed to `run`. */
  readonly size: number;
}

export interface FairQueueOptions {
  /** How many pieces of work run at once. */
  readonly slots: number;
  /** How many slots one group can use at once. By default, all of them. */
  readonly slotsPerGroup?: number;
  /** By default, any amount of work can wait, for any time. */
  readonly maxWaiting?: WaitingBounds;
  readonly maxWaitingPerGroup?: WaitingBounds;
  readonly maxWaitMs?: number;
  /** When `run` rejects although the work still runs. The slot stays in use until the work ends. */
  readonly timeoutMs?: number;
  /** The error that `run` throws for refused work. By default, a plain `Error`. */
  readonly refusal?: (reason: RefusalReason) => Error;
}

interface Group {
  running: number;
  /** Functions that start waiting work, oldest first. */
  readonly waiting: Set<() => void>;
  waitingSize: number;
}

/**
 * @example
 * const queue = new FairQueue({ slots: 8, slotsPerGroup: 4 });
 * const text = await queue.run(() => render(page), tenantId);
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** Groups with running or waiting work. The first one that can start work is next. */
  readonly #groups = new Map<string, Group>();
  #running = 0;
  #waiting = 0;
  #waitingSize = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** How many pieces of work are waiting for a slot. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs the work as soon as a slot is free.
   *
   * @param size memory that the work holds while it waits, in the unit of the bounds
   * @throws whatever `refusal` returns, where a bound is exceeded
   */
  async run<T>(work: () => Promise<T>, groupName = "", size = 0): Promise<T> {
    const group = this.#groups.get(groupName) ?? { running: 0, waiting: new Set(), waitingSize: 0 };
    if (this.#canStart(group)) this.#takeSlot(groupName, group);
    else await this.#waitForSlot(groupName, group, size);
    const running = this.#runInSlot(work, groupName, group);
    const { timeoutMs } = this.#options;
    return timeoutMs === undefined ? running : this.#withTimeout(running, timeoutMs);
  }

  #canStart({ running }: Group): boolean {
    const { slots, slotsPerGroup = slots } = this.#options;
    return this.#running < slots && running < slotsPerGroup;
  }

  /** Moves the group behind all others. */
  #takeSlot(groupName: string, group: Group): void {
    this.#groups.delete(groupName);
    this.#groups.set(groupName, group);
    group.running += 1;
    this.#running += 1;
  }

  async #runInSlot<T>(work: () => Promise<T>, groupName: string, group: Group): Promise<T> {
    try {
      return await work();
    } finally {
      group.running -= 1;
      this.#running -= 1;
      this.#deleteIfIdle(groupName, group);
      this.#startNext();
    }
  }

  /** Resolves once a slot has been taken for the work. */
  #waitForSlot(groupName: string, group: Group, size: number): Promise<void> {
    const { maxWaiting, maxWaitingPerGroup, maxWaitMs } = this.#options;
    if (exceeds(maxWaitingPerGroup, group.waiting.size, group.waitingSize + size))
      throw this.#refusal("groupFull");
    if (exceeds(maxWaiting, this.#waiting, this.#waitingSize + size)) throw this.#refusal("full");
    this.#groups.set(groupName, group);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        group.waiting.delete(start);
        group.waitingSize -= size;
        this.#waiting -= 1;
        this.#waitingSize -= size;
      };
      const start = (): void => {
        leave();
        this.#takeSlot(groupName, group);
        resolve();
      };
      const giveUp = (): void => {
        leave();
        this.#deleteIfIdle(groupName, group);
        reject(this.#refusal("waitTimedOut"));
      };
      const timer = maxWaitMs === undefined ? undefined : setTimeout(giveUp, maxWaitMs);
      group.waiting.add(start);
      group.waitingSize += size;
      this.#waiting += 1;
      this.#waitingSize += size;
    });
  }

  #deleteIfIdle(groupName: string, { running, waiting }: Group): void {
    if (running === 0 && waiting.size === 0) this.#groups.delete(groupName);
  }

  #startNext(): void {
    for (const group of this.#groups.values()) {
      const [start] = group.waiting;
      if (!start || !this.#canStart(group)) continue;
      start();
      return;
    }
  }

  async #withTimeout<T>(running: Promise<T>, timeoutMs: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(this.#refusal("timedOut")), timeoutMs);
    });
    try {
      return await Promise.race([running, timedOut]);
    } finally {
      clearTimeout(timer);
    }
  }

  #refusal(reason: RefusalReason): Error {
    return this.#options.refusal?.(reason) ?? new Error(`The queue refused work: ${reason}.`);
  }
}

function exceeds(bounds: WaitingBounds | undefined, count: number, size: number): boolean {
  return bounds !== undefined && (count >= bounds.count || size > bounds.size);
}
