// Connections that receive notifications, each of one channel.

import type { EndListening, NotificationListener } from "../database.ts";
import { Connection } from "./connection.ts";

export class Listeners {
  readonly #url: string;
  readonly #connections = new Set<Connection>();
  #isClosed = false;

  constructor(url: string) {
    this.#url = url;
  }

  async listen(channel: string, listener: NotificationListener): Promise<EndListening> {
    const onEnd = (): void => {
      this.#connections.delete(connection);
      listener.onEnd();
    };
    const connection = new Connection(this.#url, {}, { ...listener, onEnd });
    this.#connections.add(connection);
    if (this.#isClosed) connection.destroy();
    try {
      await connection.run(`listen ${channel}`);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    return () => connection.destroy();
  }

  /** Ends all connections. */
  destroy(error?: Error): void {
    for (const connection of this.#connections) connection.destroy(error);
  }

  /** Ends all connections, and each that is opened later. */
  close(): void {
    this.#isClosed = true;
    this.destroy();
  }
}
