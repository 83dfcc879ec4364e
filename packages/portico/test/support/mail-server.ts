// A mail server that stores the emails it receives, and rejects or delays them on request.

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface ReceivedMail {
  readonly to: string;
  readonly from: string;
  /** Header fields by lower-case name, unfolded. */
  readonly headers: ReadonlyMap<string, string>;
  /** The parts by media type, decoded. */
  readonly parts: ReadonlyMap<string, string>;
  readonly raw: string;
}

export interface MailServerOptions {
  /** @returns the status to reject a recipient with, such as 550 or 451; undefined to accept */
  readonly refuse?: (address: string) => number | undefined;
  /** Delays the acceptance of an email that was received completely. */
  readonly delay?: () => Promise<void>;
  readonly port?: number;
  readonly login?: { readonly user: string; readonly password: string };
}

export class MailServer {
  readonly received: ReceivedMail[] = [];
  /** The largest number of connections that were open at once. */
  mostConnections = 0;
  readonly #server: SMTPServer;
  readonly #login: MailServerOptions["login"];

  private constructor(options: MailServerOptions) {
    this.#login = options.login;
    this.#server = new SMTPServer(this.#smtpOptions(options));
    // A killed client resets its connection.
    this.#server.on("error", () => {});
  }

  static async start(options: MailServerOptions = {}): Promise<MailServer> {
    const server = new MailServer(options);
    server.#server.listen(options.port ?? 0, "127.0.0.1");
    await once(server.#server.server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  get url(): string {
    const login = this.#login && `${this.#login.user}:${this.#login.password}@`;
    return `smtp://${login ?? ""}127.0.0.1:${this.port}`;
  }

  subjectsTo(address: string): string[] {
    return this.received.filter(({ to }) => to === address).map(({ headers }) => headers.get("subject")!);
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #smtpOptions({ refuse, delay, login }: MailServerOptions): SMTPServerOptions {
    let connections = 0;
    return {
      authOptional: login === undefined,
      allowInsecureAuth: true,
      disabledCommands: login ? ["STARTTLS"] : ["STARTTLS", "AUTH"],
      closeTimeout: 100,
      onAuth({ username, password, method }, _session, callback) {
        if (username === login?.user && password === login?.password)
          return callback(null, { user: username });
        // Some servers repeat the credentials in the error.
        callback(failure(535, `${method} ${username} ${password} is not known here`));
      },
      onConnect: (_session, callback) => {
        connections += 1;
        this.mostConnections = Math.max(this.mostConnections, connections);
        callback();
      },
      onClose: () => {
        connections -= 1;
      },
      onRcptTo({ address }, _session, callback) {
        const status = refuse?.(address);
        callback(status === undefined ? null : failure(status, `no mail for ${address}`));
      },
      onData: (stream, { envelope }, callback) => {
        let raw = "";
        stream.setEncoding("utf8");
        stream.on("data", (chunk) => (raw += chunk));
        stream.on("end", async () => {
          const [headers, parts] = parseMessage(raw);
          const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
          this.received.push({ to: envelope.rcptTo[0]!.address, from, headers, parts, raw });
          await delay?.();
          callback();
        });
      },
    };
  }
}

function failure(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

function parseMessage(raw: string): [Map<string, string>, Map<string, string>] {
  const [headers, body] = headersAndBody(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers.get("content-type") ?? "")?.[1];
  const pieces = boundary === undefined ? [raw] : body.split(`--${boundary}`).slice(1, -1);
  const parts = pieces.map((piece): [string, string] => {
    const [partHeaders, text] = headersAndBody(piece.trimStart());
    const type = partHeaders.get("content-type")?.split(";")[0] ?? "";
    return [type, decoded(text, partHeaders.get("content-transfer-encoding") ?? "7bit")];
  });
  return [headers, new Map(parts)];
}

function headersAndBody(text: string): [Map<string, string>, string] {
  const end = text.indexOf("\r\n\r\n");
  const lines = text
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), decodedWords(line.slice(colon + 1).trim())];
  });
  return [new Map(headers), text.slice(end + 4)];
}

/** RFC 2047, limited to what nodemailer produces. */
function decodedWords(value: string): string {
  const word = /=\?UTF-8\?([QB])\?([^?]*)\?=/gi;
  return value
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(word, (_, kind: string, text: string) =>
      kind.toUpperCase() === "B"
        ? Buffer.from(text, "base64").toString()
        : decoded(text.replaceAll("_", " "), "quoted-printable"),
    );
}

function decoded(text: string, encoding: string): string {
  const plain = text.replaceAll("\r\n", "\n");
  if (encoding === "base64") return Buffer.from(plain, "base64").toString();
  if (encoding !== "quoted-printable") return plain;
  const bytes = plain
    .replaceAll(/=\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, "latin1").toString();
}
