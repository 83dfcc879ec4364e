// Sizes, time limits and error codes of the connections to PostgreSQL.

import { availableParallelism } from "node:os";

/**
 * The sizes of the connection pools. Quick reads are pipelined: with fewer connections more statements share a packet, and
 * more connections than cores make them no faster. Pipelined writes have more, because those of one connection are
 * committed one after another: each waits for the disk, and only those of several connections share a flush. Transactions,
 * which hold a connection for several round trips, and slow reads have their own pools, so that quick reads do not wait
 * behind them (`reader.ts`).
 */
export const poolSizes = {
  reads: Math.min(Math.max(availableParallelism() - 1, 1), 4),
  writes: 10,
  transactions: 8,
  slow: 4,
};
/** Concurrent slow reads of one tenant. */
export const slowReadsPerTenant = 3;
/** Concurrent transactions of one tenant: its writes may wait for each other's locks, or delete many rows. */
export const transactionsPerTenant = 6;
/** How long a read waits for a lock, while its table is being changed. */
export const lockTimeoutMs = 2_000;
/** How long a pipelined write waits for a lock before it runs in a transaction instead: writes wait behind it. */
export const writeLockTimeoutMs = 100;
/** How much longer than the time-out of the server this process waits for a slow read, in case the server does not answer. */
export const networkMs = 1_000;
/** SQLSTATE of a statement that the server canceled because of its time-out (`query_canceled`). */
export const statementTimeout = "57014";
/** SQLSTATE of a statement that waited too long for a lock (`lock_not_available`). */
export const lockTimeout = "55P03";
/** How long after its time-out a reachable server has certainly canceled a statement. */
export const graceMs = 5_000;
/** How long pending statements may take when the database is closed. */
export const closeTimeoutSeconds = 5;

/**
 * How often a transaction is run again if it conflicts with concurrent transactions: it may conflict once with each of its
 * tenant that has begun before.
 */
export const maxRetries = transactionsPerTenant;
