// One connection of the protocol graphql-transport-ws
// (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md).

import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import type { Caller } from "../../declare/caller.ts";
import { Problem } from "../../errors.ts";
import type { GraphqlRequest } from "../document/request.ts";
import { requireAnyScope } from "../document/scopes.ts";
import type { CredentialListener, PresentedHeaders } from "../subscriptions/credential-watcher.ts";
import { type StreamDependencies, StreamedOperation } from "../subscriptions/streamed-operation.ts";
import { BackPressure } from "./back-pressure.ts";
import {
  type ClientMessage,
  closeCodes,
  invalidMessage,
  ProtocolError,
  parseMessage,
  presentedCredential,
} from "./client-message.ts";
import { PartialMessage, type Receive } from "./partial-message.ts";
import { type OutletConnection, WebSocketSink } from "./web-socket-sink.ts";

export const subprotocol = "graphql-transport-ws";

const initialisationMs = 10_000;
/** More at once are of no use. */
const maxOperations = 1_000;
/** The reason of a close frame has 123 bytes; a character that is cut takes three. */
const maxReasonBytes = 119;
const somethingWrong = "Something went wrong on our side";

/** What a connection does beside speaking the protocol. */
export interface ConnectionDependencies {
  readonly operations: StreamDependencies;
  /** The headers of the request that opened it. */
  readonly opening: PresentedHeaders;
  /** @throws Problem */
  readonly authenticate: (presented: PresentedHeaders) => Promise<Caller>;
  /** Counts an operation of the caller. @throws Problem `rate_limited` */
  readonly count: (caller: Caller) => Promise<void>;
  readonly watch: (presented: PresentedHeaders, holder: CredentialListener) => () => void;
  readonly receive: Receive;
  readonly onClose: (code: number, caller: Caller | undefined) => void;
}

export class WebSocketConnection implements CredentialListener, OutletConnection {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #backPressure: BackPressure;
  readonly #unfinished: PartialMessage;
  readonly #dependencies: ConnectionDependencies;
  readonly #operations = new Map<string, StreamedOperation>();
  readonly #initialisation: NodeJS.Timeout;
  #isInitialised = false;
  #caller: Caller | undefined;
  #unwatch = (): void => {};
  readonly #endCount: () => void;
  #isCorked = false;
  #isAlive = true;

  /** @param stream what the frames of `socket` are written to */
  constructor(socket: WebSocket, stream: Duplex, dependencies: ConnectionDependencies) {
    this.#socket = socket;
    this.#stream = stream;
    this.#backPressure = new BackPressure(socket, stream, () => this.#unfinished.resumed());
    this.#unfinished = new PartialMessage(socket, stream, {
      receive: dependencies.receive,
      onTooMuch: () => this.#cutOff("tryAgain", "Too many messages are being received"),
      onTooLong: () => this.#close("badRequest", "A message was not received in time"),
    });
    this.#dependencies = dependencies;
    this.#initialisation = setTimeout(
      () => this.#close("noInitialisation", "Connection initialisation timeout"),
      initialisationMs,
    );
    this.#endCount = this.#backPressure.countUntilAuthenticated(() =>
      this.#close("badRequest", "Too much was sent before the connection was acknowledged"),
    );
    socket.on("error", () => {});
    socket.on("ping", (payload) => this.#sendWith(() => socket.pong(payload)));
    socket.on("pong", () => {
      this.#isAlive = true;
    });
    socket.on("close", (code) => this.#onClosed(code));
    socket.on("message", (bytes, isBinary) => {
      this.#onMessage(bytes, isBinary).catch((error: unknown) => this.#fail(error));
    });
    if (socket.protocol !== subprotocol) this.#close("wrongProtocol", "Subprotocol not acceptable");
  }

  get pendingBytes(): number {
    return this.#backPressure.waitingBytes;
  }

  /**
   * Asks whether the other side is there; one that did not answer the last time is not. From one that does not read
   * no answer can be expected: the server's bound for peers that take nothing applies to it. Nor from one that is within
   * a frame, which has a bound of its own.
   */
  heartbeat(): void {
    if (this.#backPressure.isPaused || this.#unfinished.isUnderWay) {
      this.#isAlive = true;
      return;
    }
    if (this.#isAlive) this.#socket.ping();
    else this.#socket.terminate();
    this.#isAlive = false;
  }

  restart(): void {
    this.#close("restarting", "The server restarts");
  }

  update(caller: Caller): void {
    this.#caller = { ...caller, address: this.#caller?.address };
    for (const operation of this.#operations.values()) operation.update(caller);
  }

  revoke({ message }: Problem): void {
    this.#close("forbidden", message);
  }

  /** Runs an operation that has one answer. */
  inTurn(work: () => Promise<void>): Promise<void> {
    return this.#backPressure.inTurn(work);
  }

  /** Frames of `next`, together with all others of this moment. */
  write(frames: Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#stream.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#stream.uncork();
      });
    }
    this.#stream.write(frames);
    this.#backPressure.wrote();
  }

  /** The answer to an operation, without `id` and `type` yet. */
  next(id: string, payload: string): void {
    this.#send(`{"id":${JSON.stringify(id)},"type":"next","payload":${payload}}`);
  }

  complete(id: string): void {
    this.#operations.delete(id);
    this.#send(JSON.stringify({ id, type: "complete" }));
  }

  /** Ends an operation with what is wrong with it. */
  error(id: string, errors: readonly object[]): void {
    this.#operations.delete(id);
    this.#send(JSON.stringify({ id, type: "error", payload: errors }));
  }

  endTooSlow(): void {
    this.#close("tooSlow", "Too slow");
  }

  #send(text: string): void {
    this.#sendWith(() => this.#socket.send(text));
  }

  #sendWith(send: () => void): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    send();
    this.#backPressure.wrote();
  }

  #close(reasonKey: keyof typeof closeCodes, reason: string): void {
    this.#endOperations();
    // The answer to the close frame is read, whatever waits.
    this.#socket.resume();
    this.#socket.close(closeCodes[reasonKey], Buffer.from(reason).subarray(0, maxReasonBytes).toString());
  }

  /** Closes without waiting for the peer, which could send more meanwhile. */
  #cutOff(why: keyof typeof closeCodes, reason: string): void {
    this.#close(why, reason);
    setImmediate(() => this.#socket.terminate());
  }

  #endOperations(): void {
    const open = [...this.#operations.values()];
    this.#operations.clear();
    for (const operation of open) operation.end();
  }

  #onClosed(code: number): void {
    clearTimeout(this.#initialisation);
    this.#endCount();
    this.#unfinished.end();
    this.#unwatch();
    this.#endOperations();
    this.#backPressure.end();
    this.#dependencies.onClose(code, this.#caller);
  }

  async #onMessage(bytes: RawData, isBinary: boolean): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (isBinary) throw invalidMessage();
    const text = String(bytes);
    // Not awaited: what has come would be held until the operation is answered.
    return this.#handle(parseMessage(text), text.length);
  }

  /** Ends the connection with what is wrong with a message, or with the server. */
  #fail(error: unknown): void {
    if (error instanceof ProtocolError) {
      this.#close(error.reason, error.message);
      return;
    }
    this.#dependencies.operations.onInternalError(error);
    this.#close("internalError", somethingWrong);
  }

  /** @throws Fault */
  async #handle(message: ClientMessage, bytes: number): Promise<void> {
    switch (message.type) {
      case "connection_init":
        return this.#initialise(message.authorization);
      case "ping":
        return this.#send(JSON.stringify({ type: "pong", payload: message.payload }));
      case "pong":
        return;
      case "subscribe":
        return this.#backPressure.answering(bytes, () => this.#subscribe(message.id, message.request));
      case "complete":
        return this.#completeByClient(message.id);
    }
  }

  async #initialise(authorization: string | undefined): Promise<void> {
    if (this.#isInitialised) throw new ProtocolError("initialisedTwice", "Too many initialisation requests");
    this.#isInitialised = true;
    clearTimeout(this.#initialisation);
    const presented =
      authorization === undefined ? this.#dependencies.opening : presentedCredential(authorization);
    const caller = await this.#authenticate(presented);
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#endCount();
    this.#caller = caller;
    this.#unwatch = this.#dependencies.watch(presented, this);
    this.#send('{"type":"connection_ack"}');
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
      throw new ProtocolError("internalError", somethingWrong);
    }
  }

  async #subscribe(id: string, request: GraphqlRequest): Promise<void> {
    const caller = this.#caller;
    if (!caller) throw new ProtocolError("unauthorized", "Unauthorized");
    if (this.#operations.has(id)) throw new ProtocolError("duplicate", `Subscriber for ${id} already exists`);
    if (this.#operations.size >= maxOperations)
      throw new ProtocolError("badRequest", `More than ${maxOperations} operations at once`);
    const operation = new StreamedOperation(
      this.#dependencies.operations,
      caller,
      new WebSocketSink(this, id),
    );
    this.#operations.set(id, operation);
    try {
      await this.#dependencies.count(caller);
    } catch (error) {
      return operation.fail(error);
    }
    await operation.run(request, false);
  }

  #completeByClient(id: string): void {
    const operation = this.#operations.get(id);
    this.#operations.delete(id);
    operation?.end();
  }
}
