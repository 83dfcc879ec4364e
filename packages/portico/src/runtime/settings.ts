// Settings come from the environment; `portico.config.ts` may give other defaults. A wrong value stops the start.

import type { Introspection } from "../auth/tokens/token-introspection.ts";
import type { Quota } from "../declare/caller.ts";
import { OperatorError } from "../errors.ts";
import { type GraphqlLimits, standardLimits } from "../graphql/document/graphql-limits.ts";
import type { AllowedOrigins } from "../http/hooks/cors.ts";
import { type LogLevel, logLevels } from "../http/logging/log-level.ts";
import { isNetwork } from "../net/client-address.ts";

export const standardDatabaseUrl = "file:./data/portico.db";

export interface Settings {
  readonly mode: "sandbox" | "live";
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  /** {base_url}, without a slash at its end. */
  readonly publicUrl: string;
  /** {auth_url}, also the issuer; undefined where it is /oauth below the public URL. */
  readonly authUrl: string | undefined;
  /** Whose pages may call the API from a browser; undefined for nobody's. */
  readonly corsOrigins: AllowedOrigins | undefined;
  /** The values of PORTICO_SECRET, newest first; undefined where the sandbox is to make one. */
  readonly secrets: readonly string[] | undefined;
  /** What a key may use that has no quota of its own. */
  readonly keyQuota: Quota;
  /** So long before its expiry a key counts as expiring soon. */
  readonly keyExpiringSoonDays: number;
  readonly graphqlLimits: GraphqlLimits;
  /** How many refused credentials an address may show. */
  readonly failedAuthQuota: Quota;
  /** Whose X-Forwarded-For is believed: addresses and networks. */
  readonly trustedProxies: readonly string[];
  /** Connections that may be open. */
  readonly maxConnections: number;
  /** Memory for answers that are not read yet; a quarter as much again is for bodies that are being received. */
  readonly bufferBytes: number;
  /** How long a search may take, and other reads that may look at many rows. */
  readonly slowReadMs: number;
  /** The mail server; undefined where mails are kept (sandbox) or wait for one (live). */
  readonly smtpUrl: string | undefined;
  /** Who mails come from; undefined for the API itself. */
  readonly mailFrom: { readonly name: string; readonly address: string } | undefined;
  /** A file with the keys that sign tokens; undefined where the server makes its own. */
  readonly signingKey: string | undefined;
  /** Where tokens of another issuer are asked about; undefined where there are none. */
  readonly introspection: (Introspection & { readonly tenantId: string | undefined }) | undefined;
  /** How the pages of the authorization server are called; undefined for the name of the app. */
  readonly pagesName: string | undefined;
  /** `#0b57d0`; undefined for Portico's own. */
  readonly pagesColour: string | undefined;
  /** A file. */
  readonly pagesLogo: string | undefined;
  /** How long mails are kept that wait for nothing any more. */
  readonly mailDays: number;
  /** How long events are kept, for subscriptions that are resumed. */
  readonly eventDays: number;
  /** How long the counts of key uses are kept. */
  readonly usageDays: number;
  /** How long rows of the request log are kept; with 0 there are none. */
  readonly requestLogDays: number;
  /** Subscriptions that a credential may have open. */
  readonly maxSubscriptions: number;
  readonly logLevel: LogLevel;
  readonly sendsServerTiming: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const minSecretLength = 32;
const mebibyte = 1024 * 1024;

/** @throws OperatorError naming the variable, what it holds and what it may hold */
export function readSettings(environment: Environment, defaults: Environment = {}): Settings {
  const value = (name: string, fallback: string): string => environment[name] || (defaults[name] ?? fallback);
  const mode = oneOf("PORTICO_MODE", value("PORTICO_MODE", "sandbox"), ["sandbox", "live"] as const);
  const host = hostName(value("HOST", "127.0.0.1"));
  const port = portNumber(value("PORT", "3000"));
  const secrets = parseSecrets(value("PORTICO_SECRET", ""));
  refuseInvalidUrls(value);
  if (mode === "live" && !secrets) {
    throw new OperatorError(
      `PORTICO_SECRET is missing; live mode needs ${minSecretLength} random characters or more`,
    );
  }
  return {
    mode,
    host,
    port,
    databaseUrl: value("DATABASE_URL", standardDatabaseUrl),
    publicUrl: httpUrl("PUBLIC_URL", value("PUBLIC_URL", `http://${urlHost(host)}:${port}`)),
    authUrl: optionalUrl("AUTH_URL", value("AUTH_URL", "")),
    corsOrigins: origins("PORTICO_CORS_ORIGINS", value("PORTICO_CORS_ORIGINS", "")),
    secrets,
    keyQuota: quota("PORTICO_KEY_QUOTA", value("PORTICO_KEY_QUOTA", "1000/60")),
    keyExpiringSoonDays: days("PORTICO_KEY_EXPIRING_SOON_DAYS", value("PORTICO_KEY_EXPIRING_SOON_DAYS", "7")),
    graphqlLimits: graphqlLimits(value),
    failedAuthQuota: quota("PORTICO_FAILED_AUTH_QUOTA", value("PORTICO_FAILED_AUTH_QUOTA", "300/60")),
    trustedProxies: networks("PORTICO_TRUSTED_PROXIES", value("PORTICO_TRUSTED_PROXIES", "")),
    maxConnections: graphqlLimit("PORTICO_MAX_CONNECTIONS", value("PORTICO_MAX_CONNECTIONS", "10000")),
    bufferBytes: mebibyte * graphqlLimit("PORTICO_BUFFER_MIB", value("PORTICO_BUFFER_MIB", "256")),
    slowReadMs:
      1000 * graphqlLimit("PORTICO_SLOW_READ_SECONDS", value("PORTICO_SLOW_READ_SECONDS", "10"), 3_600),
    smtpUrl: smtpUrl(value("SMTP_URL", "")),
    mailFrom: mailAddress("MAIL_FROM", value("MAIL_FROM", "")),
    signingKey: value("PORTICO_SIGNING_KEY", "") || undefined,
    introspection: introspection(value),
    pagesName: pagesName("PORTICO_PAGES_NAME", value("PORTICO_PAGES_NAME", "")),
    pagesColour: colour("PORTICO_PAGES_COLOUR", value("PORTICO_PAGES_COLOUR", "")),
    pagesLogo: value("PORTICO_PAGES_LOGO", "") || undefined,
    mailDays: days("PORTICO_MAIL_DAYS", value("PORTICO_MAIL_DAYS", "30")),
    eventDays: days("PORTICO_EVENT_DAYS", value("PORTICO_EVENT_DAYS", "30")),
    usageDays: days("PORTICO_USAGE_DAYS", value("PORTICO_USAGE_DAYS", "90")),
    requestLogDays: days("PORTICO_REQUEST_LOG_DAYS", value("PORTICO_REQUEST_LOG_DAYS", "7"), 0),
    maxSubscriptions: graphqlLimit(
      "PORTICO_GRAPHQL_SUBSCRIPTIONS",
      value("PORTICO_GRAPHQL_SUBSCRIPTIONS", "100"),
    ),
    logLevel: oneOf("LOG_LEVEL", value("LOG_LEVEL", "info"), logLevels),
    sendsServerTiming: oneOf("PORTICO_TIMING", value("PORTICO_TIMING", "0"), ["0", "1"] as const) === "1",
  };
}

/**
 * The settings of a server that a program embeds; the environment is not read.
 *
 * @param values those that the program sets
 * @param defaults those of the app, as `portico.config.ts` writes them
 * @throws OperatorError
 */
export function completeSettings(values: Partial<Settings>, defaults: Environment): Settings {
  const { mode, host, port, secrets } = values;
  const environment = {
    PORTICO_MODE: mode,
    HOST: host,
    PORT: port?.toString(),
    PORTICO_SECRET: secrets?.join(","),
  };
  const set = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return { ...readSettings(environment, defaults), ...set };
}

/** Where the authorization server stands. */
export function authUrl(settings: Settings, publicUrl: string): string {
  return settings.authUrl ?? `${publicUrl}/oauth`;
}

/** Settings of parts that are still to come: what is written is checked already. */
function refuseInvalidUrls(value: (name: string, fallback: string) => string): void {
  for (const name of ["REDIS_URL"]) {
    const url = value(name, "");
    if (url !== "" && !URL.canParse(url))
      throw new OperatorError(`${name} is no URL; correct it or leave it out`);
  }
}

function oneOf<const Choice extends string>(name: string, value: string, choices: readonly Choice[]): Choice {
  const match = choices.find((choice) => choice === value);
  if (match !== undefined) return match;
  throw new OperatorError(`${name} is '${value}'; it must be one of ${choices.join(", ")}`);
}

/** `1000/60`: requests, and the seconds of the window. */
export function quota(name: string, value: string): Quota {
  const [, limit, windowSeconds] = /^(\d{1,9})\/(\d{1,6})$/.exec(value) ?? [];
  if (Number(limit) > 0 && Number(windowSeconds) > 0)
    return { limit: Number(limit), windowSeconds: Number(windowSeconds) };
  throw new OperatorError(`${name} is '${value}'; write requests and the seconds of their window: 1000/60`);
}

/** `10.0.0.7,192.168.0.0/16` */
function networks(name: string, value: string): readonly string[] {
  const parts = value.split(",").map((each) => each.trim());
  const listed = parts.filter((each) => each !== "");
  const invalid = listed.find((each) => !isNetwork(each));
  if (invalid === undefined) return listed;
  throw new OperatorError(`${name} has '${invalid}'; write addresses or networks: 10.0.0.7,192.168.0.0/16`);
}

/** Its password is not repeated in the message. */
function smtpUrl(value: string): string | undefined {
  if (value === "") return undefined;
  const url = URL.parse(value);
  if (url && /^smtps?:$/.test(url.protocol) && url.hostname !== "") return value;
  throw new OperatorError(
    "SMTP_URL is no address of a mail server; write smtp://USER:PASSWORD@HOST:PORT or smtps://...",
  );
}

/** `Portico <no-reply@example.com>`, or the address alone. */
function mailAddress(name: string, value: string): Settings["mailFrom"] {
  if (value === "") return undefined;
  const [, called = "", bracketed, bare] =
    /^(?:"?([^<>"\p{Cc}]*?)"?\s*<([^\s<>@,;]+@[^\s<>@,;]+)>|([^\s<>@,;]+@[^\s<>@,;]+))$/u.exec(
      value.trim(),
    ) ?? [];
  const address = bracketed ?? bare;
  if (address !== undefined) return { name: called, address };
  throw new OperatorError(`${name} is '${value}'; write Name <name@example.com>, or the address alone`);
}

/** The secret is not repeated in the message. */
function introspection(value: (name: string, fallback: string) => string): Settings["introspection"] {
  const url = value("PORTICO_INTROSPECTION_URL", "");
  const clientId = value("PORTICO_INTROSPECTION_CLIENT_ID", "");
  const clientSecret = value("PORTICO_INTROSPECTION_CLIENT_SECRET", "");
  const tenantId = value("PORTICO_INTROSPECTION_TENANT", "") || undefined;
  if (url === "" && clientId === "" && clientSecret === "" && tenantId === undefined) return undefined;
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username !== "")
    throw new OperatorError("PORTICO_INTROSPECTION_URL must be an http or https URL without a user name");
  if (clientId !== "" && clientSecret !== "") return { url, clientId, clientSecret, tenantId };
  throw new OperatorError(
    "PORTICO_INTROSPECTION_URL needs PORTICO_INTROSPECTION_CLIENT_ID and PORTICO_INTROSPECTION_CLIENT_SECRET",
  );
}

function pagesName(name: string, value: string): string | undefined {
  if (value.length <= 100 && !/\p{Cc}/u.test(value)) return value.trim() || undefined;
  throw new OperatorError(`${name} must be one line of at most 100 characters`);
}

function colour(name: string, value: string): string | undefined {
  if (value === "" || /^#[\da-f]{6}$/i.test(value)) return value.toLowerCase() || undefined;
  throw new OperatorError(`${name} is '${value}'; write red, green and blue in hexadecimal: #0b57d0`);
}

function days(name: string, value: string, min = 1): number {
  const count = Number(value);
  if (/^\d{1,4}$/.test(value) && count >= min) return count;
  throw new OperatorError(`${name} is '${value}'; it must be a number of days from ${min} to 9999`);
}

/** How much one GraphQL operation may ask for. */
function graphqlLimits(value: (name: string, fallback: string) => string): GraphqlLimits {
  const { depth, cost, fields, tokens } = standardLimits;
  return {
    ...standardLimits,
    depth: graphqlLimit("PORTICO_GRAPHQL_DEPTH", value("PORTICO_GRAPHQL_DEPTH", String(depth))),
    cost: graphqlLimit("PORTICO_GRAPHQL_COST", value("PORTICO_GRAPHQL_COST", String(cost))),
    fields: graphqlLimit("PORTICO_GRAPHQL_FIELDS", value("PORTICO_GRAPHQL_FIELDS", String(fields))),
    tokens: graphqlLimit("PORTICO_GRAPHQL_TOKENS", value("PORTICO_GRAPHQL_TOKENS", String(tokens))),
  };
}

function graphqlLimit(name: string, value: string, max = 99_999_999): number {
  if (/^[1-9]\d{0,7}$/.test(value) && Number(value) <= max) return Number(value);
  throw new OperatorError(`${name} is '${value}'; it must be a whole number from 1 to ${max}`);
}

function portNumber(value: string): number {
  const port = Number(value);
  if (/^\d+$/.test(value) && port <= 65_535) return port;
  throw new OperatorError(`PORT is '${value}'; it must be a number from 0 to 65535`);
}

function httpUrl(name: string, value: string): string {
  const url = URL.parse(value);
  if (url && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "")
    return value.replace(/\/+$/, "");
  throw new OperatorError(`${name} is '${value}'; it must be an http or https URL without query`);
}

function optionalUrl(name: string, value: string): string | undefined {
  return value === "" ? undefined : httpUrl(name, value);
}

/** Compared with what browsers send, character by character; so nothing is taken that none would send. */
function origins(name: string, value: string): AllowedOrigins | undefined {
  if (value === "") return undefined;
  if (value === "*") return "*";
  const parts = value.split(",").map((each) => each.trim());
  const invalid = parts.find((each) => !/^https?:/.test(each) || URL.parse(each)?.origin !== each);
  if (invalid === undefined) return new Set(parts);
  throw new OperatorError(
    `${name} has '${invalid}'; write origins as https://app.example.com, separated by commas, or * alone for every one`,
  );
}

function hostName(host: string): string {
  if (URL.canParse(`http://${urlHost(host)}`)) return host;
  throw new OperatorError(`HOST is '${host}'; it must be an address or a name of this machine`);
}

function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function parseSecrets(value: string): readonly string[] | undefined {
  if (value === "") return undefined;
  const secrets = value.split(",").map((secret) => secret.trim());
  if (secrets.length <= 2 && secrets.every((secret) => secret.length >= minSecretLength)) return secrets;
  throw new OperatorError(
    `PORTICO_SECRET must be one value, or two separated by a comma, of ${minSecretLength} characters or more each`,
  );
}
