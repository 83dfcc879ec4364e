// A session of the protocol graphql-transport-ws (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md).

import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import type { Caller } from "../../declare/caller.ts";
import { Problem } from "../../errors.ts";
import type { PresentedHeaders } from "../../lib/presented-headers.ts";
import type { GraphqlRequest } from "../document/request.ts";
import { requireAnyScope } from "../document/scopes.ts";
import type { CredentialListener } from "../subscriptions/credential-watcher.ts";
import { type StreamDependencies, StreamedOperation } from "../subscriptions/streamed-operation.ts";
import {
  type ClientMessage,
  invalidMessage,
  ProtocolError,
  parseMessage,
  presentedCredential,
} from "./client-message.ts";
import type { Receive } from "./partial-message.ts";
import { WebSocketConnection } from "./web-socket-connection.ts";
import { WebSocketSink } from "./web-socket-sink.ts";

export const subprotocol = "graphql-transport-ws";

const initialisationTimeoutMs = 10_000;
const maxOperations = 1_000;
const internalErrorMessage = "Something went wrong on our side";

export interface SessionDependencies {
  readonly operations: StreamDependencies;
  /** The headers of the request that opened the connection. */
  readonly opening: PresentedHeaders;
  /** @throws Problem */
  readonly authenticate: (presented: PresentedHeaders) => Promise<Caller>;
  /** Counts an operation against the caller's quota. @throws Problem `rate_limited` */
  readonly count: (caller: Caller) => Promise<void>;
  /** Calls the listener whenever the credential has been verified again. @returns a function that stops it */
  readonly watch: (presented: PresentedHeaders, listener: CredentialListener) => () => void;
  readonly receive: Receive;
  readonly onClose: (code: number, caller: Caller | undefined) => void;
}

export class GraphqlWsSession implements CredentialListener {
  readonly #connection: WebSocketConnection;
  readonly #dependencies: SessionDependencies;
  readonly #operations = new Map<string, StreamedOperation>();
  readonly #initialisationTimeout: NodeJS.Timeout;
  readonly #stopByteCount: () => void;
  #isInitialised = false;
  #caller: Caller | undefined;
  #unwatch = (): void => {};

  /** @param stream the connection that carries the frames of `socket` */
  constructor(socket: WebSocket, stream: Duplex, dependencies: SessionDependencies) {
    this.#dependencies = dependencies;
    const connection = new WebSocketConnection(socket, stream, {
      receive: dependencies.receive,
      onMessage: (data, isBinary) => {
        this.#onMessage(data, isBinary).catch((error: unknown) => this.#fail(error));
      },
      onClosing: () => this.#endOperations(),
      onClosed: (code) => this.#onClosed(code),
    });
    this.#connection = connection;
    this.#initialisationTimeout = setTimeout(
      () => connection.close("noInitialisation", "Connection initialisation timeout"),
      initialisationTimeoutMs,
    );
    this.#stopByteCount = connection.backPressure.countUntilAuthenticated(() =>
      connection.close("badRequest", "Too much was sent before the connection was acknowledged"),
    );
    if (connection.protocol !== subprotocol) connection.close("wrongProtocol", "Subprotocol not acceptable");
  }

  heartbeat(): void {
    this.#connection.heartbeat();
  }

  restart(): void {
    this.#connection.close("restarting", "The server is restarting");
  }

  update(caller: Caller): void {
    this.#caller = { ...caller, address: this.#caller?.address };
    for (const operation of this.#operations.values()) operation.update(caller);
  }

  revoke({ message }: Problem): void {
    this.#connection.close("forbidden", message);
  }

  #endOperations(): void {
    const operations = [...this.#operations.values()];
    this.#operations.clear();
    for (const operation of operations) operation.end();
  }

  #onClosed(code: number): void {
    clearTimeout(this.#initialisationTimeout);
    this.#stopByteCount();
    this.#unwatch();
    this.#dependencies.onClose(code, this.#caller);
  }

  async #onMessage(data: RawData, isBinary: boolean): Promise<void> {
    if (isBinary) throw invalidMessage();
    const text = String(data);
    // Not awaited: `data` would be held until the operation has ended.
    return this.#handle(parseMessage(text), text.length);
  }

  /** Closes the connection because of an invalid message or an unexpected error. */
  #fail(error: unknown): void {
    if (error instanceof ProtocolError) {
      this.#connection.close(error.code, error.message);
      return;
    }
    this.#dependencies.operations.onInternalError(error);
    this.#connection.close("internalError", internalErrorMessage);
  }

  /** @throws ProtocolError */
  async #handle(message: ClientMessage, length: number): Promise<void> {
    switch (message.type) {
      case "connection_init":
        return this.#initialise(message.authorization);
      case "ping":
        return this.#connection.send(JSON.stringify({ type: "pong", payload: message.payload }));
      case "pong":
        return;
      case "subscribe":
        return this.#connection.backPressure.holding(length, () =>
          this.#subscribe(message.id, message.request),
        );
      case "complete":
        return this.#complete(message.id);
    }
  }

  async #initialise(authorization: string | undefined): Promise<void> {
    if (this.#isInitialised) throw new ProtocolError("initialisedTwice", "Too many initialisation requests");
    this.#isInitialised = true;
    clearTimeout(this.#initialisationTimeout);
    const presented =
      authorization === undefined ? this.#dependencies.opening : presentedCredential(authorization);
    const caller = await this.#authenticate(presented);
    if (!this.#connection.isOpen) return;
    this.#stopByteCount();
    this.#caller = caller;
    this.#unwatch = this.#dependencies.watch(presented, this);
    this.#connection.send('{"type":"connection_ack"}');
  }

  async #authenticate(presented: PresentedHeaders): Promise<Caller> {
    try {
      const caller = await this.#dependencies.authenticate(presented);
      requireAnyScope(caller);
      return caller;
    } catch (error) {
      if (error instanceof Problem)
        throw new ProtocolError(error.status >= 500 ? "tryAgain" : "forbidden", error.message);
      this.#dependencies.operations.onInternalError(error);
      throw new ProtocolError("internalError", internalErrorMessage);
    }
  }

  async #subscribe(id: string, request: GraphqlRequest): Promise<void> {
    const caller = this.#caller;
    if (!caller) throw new ProtocolError("unauthorized", "Unauthorized");
    if (this.#operations.has(id)) throw new ProtocolError("duplicate", `Subscriber for ${id} already exists`);
    if (this.#operations.size >= maxOperations)
      throw new ProtocolError("badRequest", `More than ${maxOperations} concurrent operations`);
    const sink = new WebSocketSink(this.#connection, id, () => this.#operations.delete(id));
    const operation = new StreamedOperation(this.#dependencies.operations, caller, sink);
    this.#operations.set(id, operation);
    try {
      await this.#dependencies.count(caller);
    } catch (error) {
      return operation.fail(error);
    }
    await operation.run(request, false);
  }

  /** The client ends an operation. */
  #complete(id: string): void {
    const operation = this.#operations.get(id);
    this.#operations.delete(id);
    operation?.end();
  }
}
