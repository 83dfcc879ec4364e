// biome-ignore-all lint/nursery/noFloatingPromises: they are intentional.
// Promises without a rejection handler, each of which `promises.ts` must find, and promises with one. Never executed.

import { readFile } from "node:fs/promises";

interface Listener {
  take(): void;
}

async function work(): Promise<void> {}

export class Planted implements Listener {
  isReady = true;
  #running = Promise.resolve();

  async take(): Promise<void> {} // unhandled

  statements(given: Promise<void>): void {
    work(); // unhandled
    work().then(() => {}); // unhandled
    this.take(); // unhandled
    readFile("file"); // unhandled
    given.finally(() => {}); // unhandled
    this.isReady && work(); // unhandled
    [1].map(work); // unhandled
    void work(); // unhandled
    work().catch(() => {});
    work().then(
      () => {},
      () => {},
    );
    void work()
      .catch(() => {})
      .finally(() => {});
  }

  kept(): void {
    this.#running = this.#running.then(work); // unhandled
    this.#running = this.#running.then(work).catch(() => {});
  }

  callbacks(): void {
    setTimeout(() => work(), 1); // unhandled
    setTimeout(() => void work(), 1); // unhandled
    setTimeout(async () => work(), 1); // unhandled
    setTimeout(work, 1); // unhandled
    [1].forEach(async () => {}); // unhandled
    setTimeout(() => work().catch(() => {}), 1);
    // handled: by its caller.
    setTimeout(work, 1);
  }
}

export const listener: Listener = {
  async take() {}, // unhandled
};
