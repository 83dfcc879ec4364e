// Sends emails by SMTP with nodemailer, over a pool of connections.

import { errorMessage } from "../lib/error-message.ts";
import type { LeasedEmail } from "./outbox.ts";

export interface Address {
  readonly name: string;
  readonly address: string;
}

export interface Transport {
  /** Hands an email to the mail server. @throws DeliveryError if the server did not accept it */
  send(email: LeasedEmail, signal: AbortSignal): Promise<void>;
  close(): void;
}

export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  /** Whether another attempt would fail as well: the recipient does not exist. */
  readonly isPermanent: boolean;

  constructor(message: string, isPermanent: boolean, cause: unknown) {
    super(message, { cause });
    this.isPermanent = isPermanent;
  }
}

/** Emails that are sent at the same time, each on its own connection. */
export const maxConcurrentSends = 5;
/** For each step: DNS lookup, connection, greeting, response. */
const stepTimeoutMs = 15_000;
const maxErrorLength = 500;

/** @param url `smtp://user:password@host:587`; its query may hold further options of nodemailer */
export async function openTransport(url: string, from: Address): Promise<Transport> {
  // Loaded here because servers without a mail server do not need it.
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
        // The same if the email is sent again after a crash, so that mail programs can recognize the duplicate.
        messageId: `<${id}@${domain}>`,
        date: new Date(createdAt),
        // Prevents automatic replies (RFC 3834, section 5).
        headers: { "Auto-Submitted": "auto-generated" },
        signal,
      };
      try {
        await pool.sendMail(message);
      } catch (error) {
        throw new DeliveryError(redact(errorMessage(error)), isPermanent(error), error);
      }
    },
    close: () => pool.close(),
  };
}

/**
 * A reply of 5yz is permanent (RFC 5321, section 4.2.1). Only refused recipients count: the operator can fix a refused
 * sender or login.
 */
function isPermanent(error: unknown): boolean {
  if (!(error instanceof Error && "command" in error && "responseCode" in error)) return false;
  return error.command === "RCPT TO" && Number(error.responseCode) >= 500 && error.responseCode !== 503;
}

/** Replies of a server can repeat what it was sent. Removes the password in every form in which it is sent. */
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
