// Connections for statements that are transactions of their own. They are pipelined: a statement and its commit take one
// round trip. There are several, because the server runs and commits the statements of a connection one after another.

import type { ColumnValues } from "../database.ts";
import type { Connection } from "./connection.ts";
import { unknownOutcome } from "./failures.ts";
import { Reader } from "./reader.ts";

/** Runs a statement on a connection. */
export type RunOn = (connection: Connection) => Promise<readonly ColumnValues[]>;

export class Writers {
  readonly #all: readonly Reader[];

  constructor(open: () => Connection, size: number) {
    this.#all = Array.from({ length: size }, () => new Reader(open));
  }

  get connections(): readonly Connection[] {
    return this.#all.flatMap(({ connections }) => connections);
  }

  /**
   * Runs a statement on the connection with the fewest pending statements.
   *
   * @returns undefined if all connections wait for locks, so that nothing was sent
   * @throws Problem if the connection is lost before the server answers, so that the outcome is unknown
   */
  async run(runOn: RunOn): Promise<readonly ColumnValues[] | undefined> {
    const connection = this.#leastBusy();
    if (!connection) return undefined;
    // If a new connection cannot be opened, the statement has certainly not run.
    if (!connection.hasAnswered) await connection.run("select 1");
    try {
      return await runOn(connection);
    } catch (error) {
      throw connection.isLost ? unknownOutcome(error) : error;
    }
  }

  /** The connection with the fewest pending statements. A further one is opened only if none is idle. */
  #leastBusy(): Connection | undefined {
    let leastBusy: Reader | undefined;
    for (const each of this.#all) {
      if (!each.isStalled && (!leastBusy || each.load < leastBusy.load)) leastBusy = each;
      if (leastBusy?.load === 0) break;
    }
    return leastBusy?.connection;
  }

  destroy(error: Error): void {
    for (const each of this.#all) each.destroy(error);
  }
}
