// Bounds the memory of messages that are being sent: a row can have a mebibyte, and a receiver can let every request wait.

const mebibyte = 1024 * 1024;

export interface MemoryBounds {
  /** Bytes of all messages, and of those of one tenant. Nothing is added beyond them. */
  readonly total: number;
  readonly perTenant: number;
}

export class MessageMemory {
  readonly #bounds: MemoryBounds;
  readonly #byTenant = new Map<string, number>();
  #total = 0;

  constructor(bounds: MemoryBounds = { total: 64 * mebibyte, perTenant: 16 * mebibyte }) {
    this.#bounds = bounds;
  }

  hasRoom(tenantId: string): boolean {
    const { total, perTenant } = this.#bounds;
    return this.#total < total && (this.#byTenant.get(tenantId) ?? 0) < perTenant;
  }

  /** Adds messages, if there is room for any. @returns whether they were added; `free` has to follow */
  take(tenantId: string, bytes: number): boolean {
    if (!this.hasRoom(tenantId)) return false;
    this.#add(tenantId, bytes);
    return true;
  }

  free(tenantId: string, bytes: number): void {
    this.#add(tenantId, -bytes);
  }

  #add(tenantId: string, bytes: number): void {
    this.#total += bytes;
    const ofTenant = (this.#byTenant.get(tenantId) ?? 0) + bytes;
    if (ofTenant === 0) this.#byTenant.delete(tenantId);
    else this.#byTenant.set(tenantId, ofTenant);
  }
}
