// Signed URLs of files and uploads. Anyone who has one may use it until it expires: it is a credential for one file.

import { hkdfSync } from "node:crypto";
import { Hmac } from "../lib/hmac.ts";

/** Addresses expire 10 to 15 minutes after they are made. */
const minLifetimeSeconds = 10 * 60;
/** They are the same for this long, so that browsers cache what they load. */
const stepSeconds = 5 * 60;
/** How long the content of an upload may be sent. */
export const uploadSeconds = 60 * 60;

export type Purpose = "files" | "uploads";

export interface SignedAddress {
  readonly id: string;
  readonly expires: string | null;
  readonly signature: string | null;
}

export class FileUrls {
  /** The first key signs; all of them are accepted, so that a secret can be replaced. */
  readonly #keys: readonly Hmac[];
  #base: string;

  /**
   * @param secrets the values of PORTICO_SECRET, newest first
   * @param base {base_url}
   */
  constructor(secrets: readonly string[], base: string) {
    this.#keys = secrets.map((secret) => {
      const key = Buffer.from(hkdfSync("sha256", secret, "", "portico file address", 32));
      return new Hmac(key.toString("hex"));
    });
    this.#base = base;
  }

  /** Where the server listens, once that is known. */
  set base(url: string) {
    this.#base = url;
  }

  /** Where the content of a file is read. */
  fileUrl(id: string, now: number = Date.now()): string {
    const steps = Math.ceil(now / 1000 / stepSeconds);
    return this.#signed("files", id, steps * stepSeconds + minLifetimeSeconds);
  }

  /** Where the content of an upload is sent. */
  uploadUrl(id: string, expiresAt: Date): string {
    return this.#signed("uploads", id, Math.floor(expiresAt.getTime() / 1000));
  }

  #signed(purpose: Purpose, id: string, expires: number): string {
    const signature = this.#keys[0]!.sign(`${purpose} ${id} ${expires}`);
    return `${this.#base}/v1/${purpose}/${id}?expires=${expires}&signature=${signature}`;
  }

  /** The seconds for which an address is still valid; 0 for one that has expired or was not made here. */
  secondsLeft(purpose: Purpose, { id, expires, signature }: SignedAddress, now: number = Date.now()): number {
    if (expires === null || !/^\d{1,12}$/.test(expires)) return 0;
    const text = `${purpose} ${id} ${expires}`;
    if (!this.#keys.some((key) => key.verify(text, signature))) return 0;
    return Math.max(0, Number(expires) - Math.floor(now / 1000));
  }
}
