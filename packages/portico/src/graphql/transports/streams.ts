// The transports of subscriptions: WebSocket and server-sent events, on the same path.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Caller } from "../../declare/caller.ts";
import { Problem } from "../../errors.ts";
import type { PresentedHeaders } from "../../lib/presented-headers.ts";
import type { GraphqlRequest } from "../document/request.ts";
import { CredentialWatcher, type Verify } from "../subscriptions/credential-watcher.ts";
import { type StreamDependencies, StreamedOperation } from "../subscriptions/streamed-operation.ts";
import { EventStream } from "./event-stream.ts";
import { GraphqlWsSession, subprotocol } from "./graphql-ws-session.ts";
import type { Receive } from "./partial-message.ts";

/** The server's functions for connections. Protocols do not import credentials and quotas. */
export interface StreamAccess {
  /** The client's IP address. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Authenticates a connection. @throws Problem */
  readonly authenticate: (presented: PresentedHeaders, address: string) => Promise<Caller>;
  /** Authenticates the credential of an open connection again. */
  readonly verify: Verify;
  /** Counts an operation that is not a request of its own against the caller's quota. @throws Problem `rate_limited` */
  readonly count: (caller: Caller) => Promise<void>;
  /** Logs a WebSocket that was closed. An event stream is logged as a request. */
  readonly logSocket: (line: Readonly<Record<string, unknown>>, caller: Caller | undefined) => void;
  /** Reserves memory for a message that is being received. */
  readonly receive: Receive;
}

const maxMessageBytes = 1024 * 1024;
const maxFragments = 4_096;
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
      // Frames are encoded without compression; see web-socket-frame.ts.
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      // Each fragment needs memory in addition to its bytes.
      maxFragments,
      maxBufferedChunks: maxFragments,
      // Pongs are sent subject to back pressure like all messages.
      autoPong: false,
      handleProtocols: (offered) => offered.has(subprotocol) && subprotocol,
      // Missing from the types.
      ...{ closeTimeout: closeTimeoutMs },
    });
    // Emitted while the upgrade is handled, so the caller of `openSocket` receives the error.
    this.#sockets.on("wsClientError", ({ message }) => {
      throw new Problem("malformed_request", `${message}.`, [], { "Sec-WebSocket-Version": "13" });
    });
  }

  /** Upgrades a connection to a WebSocket. @throws Problem `malformed_request` */
  openSocket(request: IncomingMessage, connection: Duplex, head: Buffer, requestId: string): void {
    const address = this.#access.addressOf(request);
    this.#sockets.handleUpgrade(request, connection, head, (socket) => {
      const started = performance.now();
      const session: GraphqlWsSession = new GraphqlWsSession(socket, connection, {
        operations: this.#dependencies,
        opening: request,
        authenticate: (presented) => this.#access.authenticate(presented, address),
        count: this.#access.count,
        receive: this.#access.receive,
        watch: (presented, listener) => this.#credentials.watch(presented, listener),
        onClose: (code, caller) => {
          this.#open.delete(session);
          const durationMs = Math.round(performance.now() - started);
          this.#access.logSocket({ requestId, code, durationMs }, caller);
        },
      });
      this.#open.add(session);
    });
  }

  /**
   * Sends the results of an operation as an event stream. The head of the response is sent with the first event, or once
   * a subscription has started: no event recorded after the client has received the head is missed.
   */
  async stream(
    request: GraphqlRequest,
    response: ServerResponse,
    opening: PresentedHeaders & { readonly caller: Caller; readonly isReadOnly: boolean },
  ): Promise<void> {
    // The socket of the request: a pipelined response that is not the next one has none yet.
    const { socket } = response.req;
    // The client has disconnected already, so no further event would report it.
    if (response.closed || socket.destroyed) return;
    const stream = new EventStream(response);
    const operation = new StreamedOperation(this.#dependencies, opening.caller, stream);
    const unwatch = this.#credentials.watch(opening, operation);
    this.#open.add(stream);
    // A client that has half-closed the connection can still receive a result, but not an endless stream.
    let isStarted = false;
    const onHalfClose = (): void => {
      if (isStarted && !response.writableEnded) socket.destroy();
    };
    const onClose = (): void => {
      socket.off("end", onHalfClose).off("close", onClose);
      unwatch();
      this.#open.delete(stream);
      operation.end();
    };
    socket.once("end", onHalfClose).once("close", onClose);
    response.once("close", onClose);
    await operation.run(request, opening.isReadOnly);
    isStarted = true;
    if (!response.headersSent && !response.destroyed) {
      // A client that is disconnected before the first event resumes from here.
      const { position } = operation;
      if (position) response.setHeader("Last-Event-ID", String(position));
      response.flushHeaders();
    }
    if (socket.readableEnded) onHalfClose();
  }

  /** Ends all connections because the server is shutting down. */
  close(): void {
    clearInterval(this.#heartbeats);
    for (const each of this.#open) each.restart();
  }
}
