// A connection to PostgreSQL that connects once and never reconnects. By default the driver reconnects while statements are
// queued, and runs them outside the transaction that they belong to.

import { connect, type Socket } from "node:net";
import postgres from "postgres";
import type { ColumnValues, NotificationListener } from "../database.ts";

/** Time limit, in seconds, for opening a connection. */
const connectTimeoutSeconds = 5;
/** The server cancels a statement that takes longer. */
export const statementTimeoutMs = 15_000;
/**
 * The server ends a transaction whose process is silent for longer, for example because its machine is gone: until it ends,
 * no later event is delivered. The time limit of a transaction's work is shorter.
 */
const idleInTransactionMs = 20_000;

type Settings = Readonly<Record<string, string | number>>;

/** The hosts, as the driver parses them from the URL. */
interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
}

export class Connection {
  readonly #sql: postgres.Sql;
  readonly #rejections = new Set<(error: unknown) => void>();
  readonly #openedAt = performance.now();
  #socket: Socket | undefined;
  #loss: Error | undefined;
  readonly #listener: NotificationListener | undefined;
  /** When it last answered, or the first pending statement was sent. */
  #activeAt = performance.now();
  #answeredAt = Number.NEGATIVE_INFINITY;

  /**
   * @param settings server parameters for this connection
   * @param listener receives the notifications of the channels that it listens to
   */
  constructor(url: string, settings: Settings = {}, listener?: NotificationListener) {
    this.#listener = listener;
    this.#sql = postgres(url, {
      max: 1,
      connect_timeout: connectTimeoutSeconds,
      // The pool decides when a connection is renewed.
      max_lifetime: null,
      backoff: () => 0,
      onnotice: () => {},
      onclose: () => this.#lose(closed()),
      // Missing from the types of the driver: a function that returns the socket to use.
      ...{ socket: (address: Address) => this.#connect(address) },
      // Missing as well: a function that receives notifications.
      ...(listener && { onnotify: (_channel: string, payload: string) => listener.onNotification(payload) }),
      connection: {
        application_name: "portico",
        TimeZone: "UTC",
        statement_timeout: statementTimeoutMs,
        idle_in_transaction_session_timeout: idleInTransactionMs,
        ...settings,
      },
      // Otherwise the driver queries them on each connection, in a promise whose rejection it does not handle.
      fetch_types: false,
      types: {
        // JSON is passed through as text: the protocols parse and write it.
        json: { to: 114, from: [114], serialize: (text: string) => text, parse: (text: string) => text },
        texts: { to: 1009, from: [], serialize: arrayOfTexts, parse: (text: string) => text },
        // bigint, and numeric as the sum of bigints: no value is larger than a JavaScript integer.
        bigint: { to: 20, from: [20, 1700], serialize: String, parse: Number },
        date: { to: 1184, from: [1082, 1114, 1184], serialize: isoText, parse: isoTextOf },
      },
    });
  }

  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  get isIdle(): boolean {
    return this.#rejections.size === 0;
  }

  /** The number of statements that have not been answered. */
  get pending(): number {
    return this.#rejections.size;
  }

  /** Whether it is open: the server has answered a statement. */
  get hasAnswered(): boolean {
    return this.#answeredAt !== Number.NEGATIVE_INFINITY;
  }

  get ageMs(): number {
    return performance.now() - this.#openedAt;
  }

  /** How long the connection has been silent while statements are pending; 0 if none is pending. */
  get silentMs(): number {
    return this.isIdle ? 0 : performance.now() - this.#activeAt;
  }

  /** When the server last answered, on the clock of `performance.now()`. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Runs a statement. Statements that are sent before its answer are pipelined. */
  query(text: string, values: readonly unknown[], isPrepared: boolean): Promise<readonly ColumnValues[]> {
    // The parameters of a statement are bound to values of types that the driver can serialize.
    const parameters = values as postgres.ParameterOrJSON<never>[];
    return this.#track(() => this.#sql.unsafe(text, parameters, { prepare: isPrepared }).values());
  }

  /** Runs a text of one or more statements without parameters. */
  async run(text: string): Promise<void> {
    await this.#track(() => this.#sql.unsafe(text).simple());
  }

  /** Waits for pending statements, then closes. */
  async close(timeoutSeconds: number): Promise<void> {
    await this.#sql.end({ timeout: timeoutSeconds });
    this.destroy();
  }

  /** Closes at once. Pending statements are rejected. */
  destroy(error: Error = closed()): void {
    this.#lose(error);
  }

  /** Rejects a pending statement as soon as the connection is lost, whatever the driver does. */
  #track<Row>(send: () => PromiseLike<Row[]>): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#loss) return reject(this.#loss);
      if (this.#rejections.size === 0) this.#activeAt = performance.now();
      this.#rejections.add(reject);
      send().then(
        (answer) => {
          this.#activeAt = this.#answeredAt = performance.now();
          this.#rejections.delete(reject);
          resolve(takeRows(answer));
        },
        (error: unknown) => {
          this.#rejections.delete(reject);
          reject(error);
          if (endsConnection(error)) this.#lose(error);
          else this.#activeAt = this.#answeredAt = performance.now();
        },
      );
    });
  }

  /** @throws if the driver tries to reconnect */
  #connect({ host, port, path }: Address): Socket {
    if (this.#socket || this.#loss) throw this.#loss ?? closed();
    const index = Math.floor(Math.random() * host.length);
    const socket = path ? connect(path) : connect({ host: host[index]!, port: port[index]! });
    // The driver reads the host name from the socket when it checks a certificate.
    Object.assign(socket, { host: host[index], port: port[index] });
    socket.on("error", (error) => this.#lose(error));
    socket.on("close", () => this.#lose(closed()));
    this.#socket = socket;
    return socket;
  }

  #lose(error: Error): void {
    if (this.#loss) return;
    this.#loss = error;
    this.#listener?.onEnd();
    for (const reject of this.#rejections) reject(error);
    this.#rejections.clear();
    this.#socket?.destroy();
    // Makes the driver reject the statements that it still queues.
    this.#sql.end({ timeout: 0 }).catch(() => {});
  }
}

/**
 * Empties an answer, so that its rows can be freed with the young generation. V8 puts functions that are assigned to a member
 * into the old generation: the driver assigns two for each statement, which refer to the answer.
 */
function takeRows<Row>(answer: Row[]): Row[] {
  const rows = [...answer];
  answer.length = 0;
  return rows;
}

function closed(): Error {
  return Object.assign(new Error("the connection to PostgreSQL was closed"), { code: "CONNECTION_CLOSED" });
}

/** Whether an error ends the connection: it was lost, or the server is closing it. */
export function endsConnection(error: unknown): error is Error {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (error instanceof postgres.PostgresError) return /^(FATAL|PANIC)$/.test(error.severity);
  return /^(CONNECT|CONNECTION_|E[A-Z]+$)/.test(String(error.code));
}

function isoText(value: string | Date): string {
  return (value instanceof Date ? value : new Date(value)).toISOString();
}

/** `2026-11-21 09:30:00.5+00`, as the server writes it in UTC, in ISO 8601 with milliseconds. */
function isoTextOf(text: string): string {
  const [, day, time, fraction = ""] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?\+00$/.exec(text) ?? [];
  return day === undefined ? text : `${day}T${time}.${fraction.padEnd(3, "0")}Z`;
}

/** https://www.postgresql.org/docs/18/arrays.html#ARRAYS-IO */
function arrayOfTexts(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join()}}`;
}
