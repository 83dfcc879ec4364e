// The transports of subscriptions, side by side on one path: WebSocket, and server-sent events.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Caller } from "../../declare/caller.ts";
import { Problem } from "../../errors.ts";
import type { GraphqlRequest } from "../document/request.ts";
import {
  CredentialWatcher,
  type PresentedHeaders,
  type Verify,
} from "../subscriptions/credential-watcher.ts";
import { type StreamDependencies, StreamedOperation } from "../subscriptions/streamed-operation.ts";
import { EventStream } from "./event-stream.ts";
import type { Receive } from "./partial-message.ts";
import { subprotocol, WebSocketConnection } from "./web-socket-connection.ts";

/** What the server passes in: protocols know nothing of credentials and quotas. */
export interface StreamAccess {
  /** Where a request comes from. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Who opens a connection. @throws Problem */
  readonly authenticate: (presented: PresentedHeaders, address: string) => Promise<Caller>;
  /** Who it is now. */
  readonly verify: Verify;
  /** Counts an operation of a caller whose request was not counted. @throws Problem `rate_limited` */
  readonly count: (caller: Caller) => Promise<void>;
  /** Tells of a WebSocket that has ended; a stream of events is a request as others are. */
  readonly logSocket: (line: Readonly<Record<string, unknown>>, caller: Caller | undefined) => void;
  /** Counts a message that is being received. */
  readonly receive: Receive;
}

const maxMessageBytes = 1024 * 1024;
const maxPieces = 4_096;
const closeTimeoutMs = 2_000;
const defaultHeartbeatMs = 15_000;

interface OpenStream {
  heartbeat(): void;
  restart(): void;
}

export class Streams {
  readonly #dependencies: StreamDependencies;
  readonly #access: StreamAccess;
  readonly #credentials: CredentialWatcher;
  readonly #open = new Set<OpenStream>();
  readonly #heartbeats: NodeJS.Timeout;
  readonly #sockets: WebSocketServer;

  constructor(dependencies: StreamDependencies, access: StreamAccess, heartbeatMs = defaultHeartbeatMs) {
    this.#dependencies = dependencies;
    this.#access = access;
    this.#credentials = new CredentialWatcher(access.verify, dependencies.onInternalError);
    this.#heartbeats = setInterval(() => {
      for (const each of this.#open) each.heartbeat();
    }, heartbeatMs).unref();
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // Frames are written as they are; see web-socket-frame.ts.
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      // Each piece costs memory beside its bytes, so that a message may not come in very many.
      maxFragments: maxPieces,
      maxBufferedChunks: maxPieces,
      // They are sent as all else is: within the bounds for peers that do not read.
      autoPong: false,
      handleProtocols: (offered) => offered.has(subprotocol) && subprotocol,
      // Not in the types yet.
      ...{ closeTimeout: closeTimeoutMs },
    });
    // Emitted while the upgrade is handled, so that whoever asked for it answers as every other error is answered.
    this.#sockets.on("wsClientError", ({ message }) => {
      throw new Problem("malformed_request", `${message}.`, [], { "Sec-WebSocket-Version": "13" });
    });
  }

  /** Opens a WebSocket on the connection of a request that asks for one. @throws Problem `malformed_request` */
  openSocket(request: IncomingMessage, connection: Duplex, head: Buffer, requestId: string): void {
    const address = this.#access.addressOf(request);
    this.#sockets.handleUpgrade(request, connection, head, (socket) => {
      const started = performance.now();
      const webSocket: WebSocketConnection = new WebSocketConnection(socket, connection, {
        operations: this.#dependencies,
        opening: request,
        authenticate: (presented) => this.#access.authenticate(presented, address),
        count: this.#access.count,
        receive: this.#access.receive,
        watch: (presented, holder) => this.#credentials.watch(presented, holder),
        onClose: (code, caller) => {
          this.#open.delete(webSocket);
          const durationMs = Math.round(performance.now() - started);
          this.#access.logSocket({ requestId, code, durationMs }, caller);
        },
      });
      this.#open.add(webSocket);
    });
  }

  /**
   * Answers an operation with a stream. The head of the response leaves with the first event, or once a subscription
   * has begun: a client that has received it is told of everything from then on.
   */
  async stream(
    request: GraphqlRequest,
    response: ServerResponse,
    opening: PresentedHeaders & { readonly caller: Caller; readonly isReadOnly: boolean },
  ): Promise<void> {
    // The socket of the request: a response that waits for its turn on the connection has none yet.
    const { socket } = response.req;
    // A caller who has left before; no further event will say so.
    if (response.closed || socket.destroyed) return;
    const stream = new EventStream(response);
    const operation = new StreamedOperation(this.#dependencies, opening.caller, stream);
    const unwatch = this.#credentials.watch(opening, {
      update: (now) => operation.update(now),
      revoke: (problem) => operation.forbid(problem),
    });
    this.#open.add(stream);
    // Whoever has closed their side may wait for an answer, but not for a stream without end.
    let isBegun = false;
    const hangUp = (): void => {
      if (isBegun && !response.writableEnded) socket.destroy();
    };
    const leave = (): void => {
      socket.off("end", hangUp).off("close", leave);
      unwatch();
      this.#open.delete(stream);
      operation.end();
    };
    socket.once("end", hangUp).once("close", leave);
    response.once("close", leave);
    await operation.run(request, opening.isReadOnly);
    isBegun = true;
    if (!response.headersSent && !response.destroyed) response.flushHeaders();
    if (socket.readableEnded) hangUp();
  }

  /** Tells all who are connected that the server goes. */
  close(): void {
    clearInterval(this.#heartbeats);
    for (const each of this.#open) each.restart();
  }
}
