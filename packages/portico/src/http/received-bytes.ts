// Limits the memory for all bodies and WebSocket messages that are being received. Each has a limit of its own, but many
// peers may send slowly at the same time. Above the limit, the one that began first is refused.

import type { OverloadLog } from "./logging/overload-log.ts";

/** One body or message that is being received. */
export interface Receipt {
  /** Sets how many of its bytes are in memory. */
  update(bytes: number): void;
  /** It is complete or discarded. */
  end(): void;
}

export class ReceivedBytes {
  readonly #maxBytes: number;
  readonly #overloads: OverloadLog;
  /** In the order of their start. */
  readonly #receipts = new Map<Receipt, { bytes: number; readonly refuse: () => void }>();
  #total = 0;

  constructor(maxBytes: number, overloads: OverloadLog) {
    this.#maxBytes = maxBytes;
    this.#overloads = overloads;
  }

  /** @param refuse called at most once; it must discard the bytes, which are no longer counted */
  begin(refuse: () => void): Receipt {
    const receipt: Receipt = {
      update: (bytes) => this.#update(receipt, bytes),
      end: () => this.#remove(receipt),
    };
    this.#receipts.set(receipt, { bytes: 0, refuse });
    return receipt;
  }

  #update(receipt: Receipt, bytes: number): void {
    const counted = this.#receipts.get(receipt);
    if (!counted) return;
    this.#total += bytes - counted.bytes;
    counted.bytes = bytes;
    // The oldest and not the largest: a peer that sends quickly will be done soon.
    for (const [oldest, { refuse }] of this.#receipts) {
      if (this.#total <= this.#maxBytes) return;
      this.#remove(oldest);
      this.#overloads.count("bodiesRefused");
      refuse();
    }
  }

  #remove(receipt: Receipt): void {
    this.#total -= this.#receipts.get(receipt)?.bytes ?? 0;
    this.#receipts.delete(receipt);
  }
}
