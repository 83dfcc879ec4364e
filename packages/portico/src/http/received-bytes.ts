// What is being received, over HTTP and WebSocket, and is not complete yet. Each piece is bounded by itself; here all of
// them together are, because a peer may send slowly: beyond the bound, the one that has been under way longest is refused.

import type { OverloadLog } from "./logging/overload-log.ts";

/** One body or message that is being received. */
export interface Receipt {
  /** How many bytes of it are held now. */
  hold(bytes: number): void;
  /** It is complete, or nothing of it is held any more. */
  end(): void;
}

export class ReceivedBytes {
  readonly #maxBytes: number;
  readonly #overloads: OverloadLog;
  /** In the order in which they began. */
  readonly #underWay = new Map<Receipt, { bytes: number; readonly refuse: () => void }>();
  #total = 0;

  constructor(maxBytes: number, overloads: OverloadLog) {
    this.#maxBytes = maxBytes;
    this.#overloads = overloads;
  }

  /** @param refuse called at most once, after which it is not counted any more: whatever is held must be let go */
  begin(refuse: () => void): Receipt {
    const receipt: Receipt = {
      hold: (bytes) => this.#hold(receipt, bytes),
      end: () => this.#forget(receipt),
    };
    this.#underWay.set(receipt, { bytes: 0, refuse });
    return receipt;
  }

  #hold(receipt: Receipt, bytes: number): void {
    const held = this.#underWay.get(receipt);
    if (!held) return;
    this.#total += bytes - held.bytes;
    held.bytes = bytes;
    // Not the youngest, also where it is the largest: whoever sends at once is through in a moment.
    for (const [oldest, { refuse }] of this.#underWay) {
      if (this.#total <= this.#maxBytes) return;
      this.#forget(oldest);
      this.#overloads.count("bodiesRefused");
      refuse();
    }
  }

  #forget(receipt: Receipt): void {
    this.#total -= this.#underWay.get(receipt)?.bytes ?? 0;
    this.#underWay.delete(receipt);
  }
}
