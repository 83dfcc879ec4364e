// The results of one operation as messages of the protocol graphql-transport-ws.

import type { Problem } from "../../errors.ts";
import type { Message } from "../../subscriptions/group.ts";
import type { ResultSink } from "../subscriptions/streamed-operation.ts";
import { framesOf, nextPrefix } from "./web-socket-frame.ts";

/** What an operation needs of its connection. */
export interface OutletConnection {
  /** Bytes that were sent and did not leave the process yet. */
  readonly pendingBytes: number;
  /** Does the work of an operation with one result once there is room for it. */
  inTurn(work: () => Promise<void>): Promise<void>;
  write(frames: Buffer): void;
  next(id: string, payload: string): void;
  complete(id: string): void;
  error(id: string, errors: readonly object[]): void;
  /** Closes it, because the credential may not go on. */
  revoke(problem: Problem): void;
  endTooSlow(): void;
}

/** Takes the messages of one operation. */
export class WebSocketSink implements ResultSink {
  readonly #connection: OutletConnection;
  readonly #id: string;
  readonly #prefix: Buffer;

  constructor(connection: OutletConnection, id: string) {
    this.#connection = connection;
    this.#id = id;
    this.#prefix = nextPrefix(id);
  }

  get pendingBytes(): number {
    return this.#connection.pendingBytes;
  }

  inTurn(work: () => Promise<void>): Promise<void> {
    return this.#connection.inTurn(work);
  }

  send(messages: readonly Message[]): void {
    this.#connection.write(framesOf(this.#prefix, messages));
  }

  sendResult(text: string): void {
    this.#connection.next(this.#id, text);
    this.#connection.complete(this.#id);
  }

  refuse(errors: readonly object[]): void {
    this.#connection.error(this.#id, errors);
  }

  forbid(problem: Problem): void {
    this.#connection.revoke(problem);
  }

  endTooSlow(): void {
    this.#connection.endTooSlow();
  }
}
