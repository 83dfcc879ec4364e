// The body of an export: the rows as bytes, at the pace of the quota, as long as the credential may read them.

import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { Pace } from "../jobs/pace.ts";
import type { RowChunk, RowStream } from "../store/row-stream.ts";

export interface ExportControls {
  /** The current caller of the credential. @throws Problem 401 if it is no longer valid */
  readonly verify: () => Promise<Caller>;
  /** Charges tokens. @returns seconds until one is available; 0 if one is left */
  readonly charge: (caller: Caller, tokens: number) => number | Promise<number>;
  /** Lets exports yield to requests. Its units are bytes. */
  readonly pace: Pick<Pace, "take" | "charge">;
  /** How often to call `verify` while rows are sent; by default every second. */
  readonly verifyEveryMs?: number | undefined;
  /** Ends the export. */
  readonly signal: AbortSignal;
}

/** Rows that one token of the quota pays for. The first one is that of the request. */
export const rowsPerToken = 1_000;
/** How often, in milliseconds, the credential is checked while rows are sent. */
const standardVerifyMs = 1_000;

/** @throws Problem if the export must end: the credential has changed, or the database takes too long */
export async function* exportBody(
  rows: RowStream,
  caller: Caller,
  { verify, charge, pace, signal, verifyEveryMs = standardVerifyMs }: ExportControls,
): AsyncGenerator<RowChunk> {
  let verifiedAt = performance.now();
  let uncharged = 0;
  for (;;) {
    // Until the bytes so far are paid for.
    await pace.take(0);
    const chunk = await rows.next();
    if (!chunk) return;
    pace.charge(Buffer.byteLength(chunk.lines));
    uncharged += chunk.charged ?? chunk.count;
    const tokens = Math.floor(uncharged / rowsPerToken);
    uncharged -= tokens * rowsPerToken;
    const seconds = tokens === 0 ? 0 : await charge(caller, tokens);
    if (seconds > 0) await sleep(seconds * 1000, undefined, { signal });
    if (performance.now() - verifiedAt >= verifyEveryMs) {
      requireUnchanged(caller, await verify());
      verifiedAt = performance.now();
    }
    yield chunk;
  }
}

/** The rows were chosen for the caller of the request: the same user, role and scopes. */
function requireUnchanged(initial: Caller, current: Caller): void {
  const isSame =
    current.tenantId === initial.tenantId &&
    current.userId === initial.userId &&
    current.role === initial.role &&
    [...initial.scopes].every((scope) => current.scopes.has(scope));
  if (!isSame) throw new Problem("insufficient_scope", "The rights of the credential have changed.");
}
