// Where the results of one operation go. WebSockets and server-sent event streams implement it.

import type { GraphQLFormattedError } from "graphql";
import type { Problem } from "../../errors.ts";
import type { ResultSink } from "../../subscriptions/result-sink.ts";

/** After any method but `send` and `inTurn`, nothing more is sent. */
export interface OperationSink extends ResultSink {
  /** Runs work that produces a single result, once the transport has capacity for it. */
  inTurn(work: () => Promise<void>): Promise<void>;
  /** Sends the only result of a query or mutation. */
  sendResult(text: string): void;
  /** Sends errors instead of a result, or after the last message of a subscription. */
  sendErrors(errors: readonly GraphQLFormattedError[]): void;
  /** Ends the stream because the credential is no longer allowed to use it. */
  revoke(problem: Problem): void;
  /** Ends the stream because the client reads too slowly. */
  endTooSlow(): void;
}
