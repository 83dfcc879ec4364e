// The results of one operation as messages of the protocol graphql-transport-ws.

import type { GraphQLFormattedError } from "graphql";
import type { Problem } from "../../errors.ts";
import type { Message } from "../../subscriptions/result-sink.ts";
import type { OperationSink } from "../subscriptions/operation-sink.ts";
import type { WebSocketConnection } from "./web-socket-connection.ts";
import { framesOf, nextPrefix } from "./web-socket-frame.ts";

export class WebSocketSink implements OperationSink {
  readonly #connection: WebSocketConnection;
  readonly #id: string;
  readonly #prefix: Buffer;
  readonly #onComplete: () => void;

  /**
   * @param id the client's id of the operation
   * @param onComplete called when the operation has ended and its id can be used again
   */
  constructor(connection: WebSocketConnection, id: string, onComplete: () => void) {
    this.#connection = connection;
    this.#id = id;
    this.#prefix = nextPrefix(id);
    this.#onComplete = onComplete;
  }

  get pendingBytes(): number {
    return this.#connection.pendingBytes;
  }

  inTurn(work: () => Promise<void>): Promise<void> {
    return this.#connection.backPressure.inTurn(work);
  }

  send(messages: readonly Message[]): void {
    this.#connection.write(framesOf(this.#prefix, messages));
  }

  sendResult(text: string): void {
    const id = JSON.stringify(this.#id);
    this.#connection.send(`{"id":${id},"type":"next","payload":${text}}`);
    this.#onComplete();
    this.#connection.send(`{"id":${id},"type":"complete"}`);
  }

  sendErrors(errors: readonly GraphQLFormattedError[]): void {
    this.#onComplete();
    this.#connection.send(JSON.stringify({ id: this.#id, type: "error", payload: errors }));
  }

  /** The credential applies to all operations of the connection. */
  revoke({ message }: Problem): void {
    this.#connection.close("forbidden", message);
  }

  /** The bytes of all operations wait in the same connection. */
  endTooSlow(): void {
    this.#connection.close("tooSlow", "Too slow");
  }
}
