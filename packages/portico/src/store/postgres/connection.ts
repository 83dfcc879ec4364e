// One connection to PostgreSQL, for one life: it connects once and is never connected again. Left to itself, the
// driver reconnects under statements that are still queued, and runs them outside the transaction they belong to.

import { connect, type Socket } from "node:net";
import postgres from "postgres";
import type { ColumnValues } from "../database.ts";

/** Seconds until a connection must be ready for its first statement. */
const connectTimeoutSeconds = 5;
/** A statement that takes longer than this is ended by the server. */
export const statementTimeoutMs = 15_000;
/**
 * A transaction whose process says nothing for so long is given up by the server, as that of a machine that is gone:
 * until it ends, no later event is told. The work of a transaction is bounded to less.
 */
const idleInTransactionMs = 20_000;

type Settings = Readonly<Record<string, string | number>>;

/** What the driver has parsed from the URL. */
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
  /** When it answered last, or was asked first. */
  #movedAt = performance.now();
  #answeredAt = Number.NEGATIVE_INFINITY;

  /** @param settings run-time parameters of the server, for this connection */
  constructor(url: string, settings: Settings = {}) {
    this.#sql = postgres(url, {
      max: 1,
      connect_timeout: connectTimeoutSeconds,
      // The owner of the connection decides when it is old.
      max_lifetime: null,
      backoff: () => 0,
      onnotice: () => {},
      onclose: () => this.#lose(closed()),
      // Missing from the types of the driver: given a socket, it writes as soon as that is connected.
      ...{ socket: (address: Address) => this.#connect(address) },
      connection: {
        application_name: "portico",
        TimeZone: "UTC",
        statement_timeout: statementTimeoutMs,
        idle_in_transaction_session_timeout: idleInTransactionMs,
        ...settings,
      },
      // The driver would ask for them on each connection, in a promise that nobody handles.
      fetch_types: false,
      types: {
        // JSON comes and goes as text: it is written and read by others.
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

  get ageMs(): number {
    return performance.now() - this.#openedAt;
  }

  /** How long statements have waited without an answer to any of them; 0 where none waits. */
  get quietMs(): number {
    return this.isIdle ? 0 : performance.now() - this.#movedAt;
  }

  /** When the server last answered, on the clock of `performance.now()`. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Runs a statement. Those that are given before it has answered are pipelined. */
  query(text: string, values: readonly unknown[], isPrepared: boolean): Promise<readonly ColumnValues[]> {
    // The slots of a statement bind to values that the driver knows how to write.
    const parameters = values as postgres.ParameterOrJSON<never>[];
    return this.#answerTo(() => this.#sql.unsafe(text, parameters, { prepare: isPrepared }).values());
  }

  /** Runs text of any number of statements without parameters. */
  async run(text: string): Promise<void> {
    await this.#answerTo(() => this.#sql.unsafe(text).simple());
  }

  /** Finishes what is under way, then closes. */
  async close(timeoutSeconds: number): Promise<void> {
    await this.#sql.end({ timeout: timeoutSeconds });
    this.destroy();
  }

  /** Closes at once. What waits for an answer fails. */
  destroy(error: Error = closed()): void {
    this.#lose(error);
  }

  /** Every statement fails as soon as the connection is lost, whatever the driver does with it. */
  #answerTo<T>(ask: () => PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#loss) return reject(this.#loss);
      if (this.#rejections.size === 0) this.#movedAt = performance.now();
      this.#rejections.add(reject);
      ask().then(
        (answer) => {
          this.#movedAt = this.#answeredAt = performance.now();
          this.#rejections.delete(reject);
          resolve(answer);
        },
        (error: unknown) => {
          this.#rejections.delete(reject);
          reject(error);
          if (endsConnection(error)) this.#lose(error);
          else this.#movedAt = this.#answeredAt = performance.now();
        },
      );
    });
  }

  /** @throws when the driver tries to connect again */
  #connect({ host, port, path }: Address): Socket {
    if (this.#socket || this.#loss) throw this.#loss ?? closed();
    const at = Math.floor(Math.random() * host.length);
    const socket = path ? connect(path) : connect({ host: host[at]!, port: port[at]! });
    // The driver names the server by it when it checks a certificate.
    Object.assign(socket, { host: host[at], port: port[at] });
    socket.on("error", (error) => this.#lose(error));
    socket.on("close", () => this.#lose(closed()));
    this.#socket = socket;
    return socket;
  }

  #lose(error: Error): void {
    if (this.#loss) return;
    this.#loss = error;
    for (const reject of this.#rejections) reject(error);
    this.#rejections.clear();
    this.#socket?.destroy();
    // Rejects what the driver still queues; it has no connection to send it on.
    this.#sql.end({ timeout: 0 }).catch(() => {});
  }
}

function closed(): Error {
  return Object.assign(new Error("the connection to PostgreSQL was closed"), { code: "CONNECTION_CLOSED" });
}

/** Whether nothing more can be asked: the connection is gone, or the server said that it ends it. */
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
