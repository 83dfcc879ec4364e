// The way to the mail server: SMTP by nodemailer, over a few connections that are kept.

import type { LeasedMail } from "./outbox.ts";

export interface Address {
  readonly name: string;
  readonly address: string;
}

/** Hands a mail to the mail server. @throws DeliveryError where it was not accepted */
export interface Transport {
  send(mail: LeasedMail, signal: AbortSignal): Promise<void>;
  close(): void;
}

export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  /** The server knows no such recipient; it would say so again. */
  readonly isPermanent: boolean;

  constructor(message: string, isPermanent: boolean, cause: unknown) {
    super(message, { cause });
    this.isPermanent = isPermanent;
  }
}

/** Mails that are under way at once, each on a connection of its own. */
export const maxConcurrentSends = 5;
/** For each step: to look up the host, to connect, to be greeted, to be answered. */
const stepTimeoutMs = 15_000;
const maxErrorLength = 500;

/** @param url `smtp://user:password@host:587`; its query may hold further options of nodemailer */
export async function openTransport(url: string, from: Address): Promise<Transport> {
  // Where no mail is sent, it need not be loaded.
  const { createTransport } = await import("nodemailer");
  const pool = createTransport({
    url,
    pool: true,
    maxConnections: maxConcurrentSends,
    dnsTimeout: stepTimeoutMs,
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    socketTimeout: stepTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.address.split("@").at(-1);
  const redact = redactor(url);
  return {
    async send({ id, to, subject, text, html, createdAt }, signal) {
      const message = {
        from,
        to: { name: "", address: to },
        subject,
        text,
        html,
        // The same when it is sent again after a crash, so that a duplicate is known as one.
        messageId: `<${id}@${domain}>`,
        date: new Date(createdAt),
        // RFC 3834, section 5: nobody's holiday notice answers.
        headers: { "Auto-Submitted": "auto-generated" },
        signal,
      };
      try {
        await pool.sendMail(message);
      } catch (error) {
        throw new DeliveryError(redact(messageOf(error)), isPermanent(error), error);
      }
    },
    close: () => pool.close(),
  };
}

/** RFC 5321, section 4.2.1: 5yz is final. Of the sender, the login or the session it may be mended. */
function isPermanent(error: unknown): boolean {
  if (!(error instanceof Error && "command" in error && "responseCode" in error)) return false;
  return error.command === "RCPT TO" && Number(error.responseCode) >= 500 && error.responseCode !== 503;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || String("code" in error && error.code) : String(error);
}

/** What a server answers may repeat what it was sent; the password stays here, in whichever form it went. */
function redactor(url: string): (text: string) => string {
  const { username, password } = new URL(url);
  const [user, plain] = [decodeComponent(username), decodeComponent(password)];
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const forms = [base64(`\0${user}\0${plain}`), base64(plain), password, plain];
  return (text) => {
    const line = text.replaceAll(/\s+/g, " ").trim();
    const safe = plain === "" ? line : forms.reduce((all, form) => all.replaceAll(form, "[redacted]"), line);
    return safe.slice(0, maxErrorLength);
  };
}

function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
