// Every setting: its variable, how its text is parsed, its default and what docs/reference/settings.md says about it.
// Longer than other files because it is one list with an entry for each setting, in the order of the documentation.

import type { Quota } from "../../declare/caller.ts";
import { standardLimits } from "../../graphql/document/graphql-limits.ts";
import { logLevels } from "../../http/logging/log-level.ts";
import {
  colour,
  days,
  flag,
  hostName,
  httpUrl,
  introspectionUrl,
  networks,
  oneOf,
  optionalFlag,
  optionalText,
  origins,
  type Parser,
  pagesName,
  port,
  quota,
  redisUrl,
  requiredText,
  type Sender,
  schedule,
  secrets,
  sender,
  smtpUrl,
  storageUrl,
  wholeNumber,
} from "./parsers.ts";

export interface Setting<Value> {
  /** The environment variable. */
  readonly name: string;
  readonly parse: Parser<Value>;
  /** As text; empty for a setting that is optional. */
  readonly default: string;
  /** Markdown for the documentation. */
  readonly description: string;
  /** Markdown that the documentation shows instead of `default`. */
  readonly defaultDescription?: string;
  /** The text of a value; `String(value)` unless set. */
  format?(value: NonNullable<Value>): string;
}

export const standardDatabaseUrl = "file:./data/portico.db";

function setting<Value>(each: Setting<Value>): Setting<Value> {
  return each;
}

const formatQuota = ({ limit, windowSeconds }: Quota): string => `${limit}/${windowSeconds}`;
const formatSender = ({ name, address }: Sender): string => (name === "" ? address : `${name} <${address}>`);

export const table = {
  mode: setting({
    name: "PORTICO_MODE",
    parse: oneOf(["sandbox", "live"]),
    default: "sandbox",
    description: "`sandbox` or `live`; [the difference](../how-to/deploy.md#modes)",
  }),
  host: setting({
    name: "HOST",
    parse: hostName,
    default: "127.0.0.1",
    description: "the address to listen on; `0.0.0.0` for every one",
  }),
  port: setting({
    name: "PORT",
    parse: port,
    default: "3000",
    description: "0 to 65535; with 0 the system chooses a free port, which the log names at level `info`",
  }),
  databaseUrl: setting({
    name: "DATABASE_URL",
    parse: requiredText,
    default: standardDatabaseUrl,
    description: "`file:PATH`, or `postgres://USER:PASSWORD@HOST/NAME`",
  }),
  storageUrl: setting({
    name: "STORAGE_URL",
    parse: storageUrl,
    default: "",
    defaultDescription: "the folder `files` beside a SQLite database; `file:./data/files` with PostgreSQL",
    description:
      "where the contents of [files](../how-to/files.md) are kept: `file:PATH`, or `s3://KEY:SECRET@HOST/BUCKET?region=REGION` for an S3-compatible storage (`s3+http:` without TLS)",
  }),
  storageLimit: setting({
    name: "PORTICO_STORAGE_LIMIT",
    parse: wholeNumber(),
    default: "100000",
    description: "megabytes that the [files](../how-to/files.md) of a tenant may take",
  }),
  publicUrl: setting({
    name: "PUBLIC_URL",
    parse: httpUrl,
    default: "",
    defaultDescription: "`http://HOST:PORT`",
    description:
      "the http or https URL at which callers reach the server; its path is prepended to the paths in `Location` and `Link`",
  }),
  authUrl: setting({
    name: "AUTH_URL",
    parse: httpUrl,
    default: "",
    defaultDescription: "`PUBLIC_URL` + `/oauth`",
    description:
      "the http or https URL at which applications reach the [authorization server](oauth.md); also its issuer. The server answers at the path of this URL",
  }),
  corsOrigins: setting({
    name: "PORTICO_CORS_ORIGINS",
    parse: origins,
    default: "",
    description:
      "origins whose pages may [call the API from a browser](rest.md#cors), as browsers write them, separated by commas: `https://app.example.com`; `*` for every one",
  }),
  secrets: setting({
    name: "PORTICO_SECRET",
    parse: secrets,
    default: "",
    defaultDescription: "sandbox: generated at the first start",
    description:
      "the root of all other secrets (cursors, cookies, encrypted values): 32 characters or more. To rotate it, set two values separated by a comma, the new one first. Required in live mode",
  }),
  publicTenant: setting({
    name: "PORTICO_PUBLIC_TENANT",
    parse: optionalText,
    default: "",
    defaultDescription: "sandbox: the first tenant; live: none",
    description:
      "the id of the tenant whose [public resources](../how-to/public-resources.md) are served to requests without a credential; `none` for no tenant",
  }),
  graphqlDepth: setting({
    name: "PORTICO_GRAPHQL_DEPTH",
    parse: wholeNumber(),
    default: String(standardLimits.depth),
    description: "[bound](graphql.md#limits) of a GraphQL operation: nesting of its fields",
  }),
  graphqlCost: setting({
    name: "PORTICO_GRAPHQL_COST",
    parse: wholeNumber(),
    default: String(standardLimits.cost),
    description: "rows that it could return",
  }),
  graphqlFields: setting({
    name: "PORTICO_GRAPHQL_FIELDS",
    parse: wholeNumber(),
    default: String(standardLimits.fields),
    description: "its fields, including those of fragments",
  }),
  graphqlTokens: setting({
    name: "PORTICO_GRAPHQL_TOKENS",
    parse: wholeNumber(),
    default: String(standardLimits.tokens),
    description: "tokens of its document",
  }),
  keyQuota: setting({
    name: "PORTICO_KEY_QUOTA",
    parse: quota,
    format: formatQuota,
    default: "1000/60",
    description:
      "[requests and the seconds of their window](quotas.md), for each key without a quota of its own",
  }),
  failedAuthQuota: setting({
    name: "PORTICO_FAILED_AUTH_QUOTA",
    parse: quota,
    format: formatQuota,
    default: "300/60",
    description:
      "how many credentials and OAuth clients may be refused, and the seconds of their window, for [each address](quotas.md#refused-credentials)",
  }),
  redisUrl: setting({
    name: "REDIS_URL",
    parse: redisUrl,
    default: "",
    description:
      "a Valkey or Redis server, `redis://USER:PASSWORD@HOST:PORT` or `rediss://...`. The value is checked but not used yet: [each process counts quotas separately](../how-to/deploy.md#several-processes)",
  }),
  trustedProxies: setting({
    name: "PORTICO_TRUSTED_PROXIES",
    parse: networks,
    default: "",
    description:
      "addresses and networks of the [proxies](../how-to/deploy.md#behind-a-proxy) whose `X-Forwarded-For` is trusted: `10.0.0.7,192.168.0.0/16`",
  }),
  maxConnections: setting({
    name: "PORTICO_MAX_CONNECTIONS",
    parse: wholeNumber(),
    default: "10000",
    description: "[connections](limits.md#connections) that may be open: 1 to 99,999,999",
  }),
  bufferMib: setting({
    name: "PORTICO_BUFFER_MIB",
    parse: wholeNumber(),
    default: "256",
    description:
      "memory, in MiB, for [responses that callers have not read yet](limits.md#connections); another quarter of it is for bodies and WebSocket messages that are being received",
  }),
  slowReadSeconds: setting({
    name: "PORTICO_SLOW_READ_SECONDS",
    parse: wholeNumber(3_600),
    default: "10",
    description: "time limit of a [slow read](limits.md#slow-reads), such as a search: 1 to 3600",
  }),
  keyExpiringSoonDays: setting({
    name: "PORTICO_KEY_EXPIRING_SOON_DAYS",
    parse: days(1),
    default: "7",
    description:
      "how many days before it expires a key is [`expiring_soon`](api-keys.md#statuses): 1 to 9999",
  }),
  smtpUrl: setting({
    name: "SMTP_URL",
    parse: smtpUrl,
    default: "",
    defaultDescription: "none: emails are `kept` (sandbox) or `waiting` (live)",
    description:
      "the [mail server](../how-to/send-mail.md): `smtp://USER:PASSWORD@HOST:PORT`, or `smtps://...`",
  }),
  mailFrom: setting({
    name: "MAIL_FROM",
    parse: sender,
    format: formatSender,
    default: "",
    defaultDescription: "the app's name and `no-reply@` the host of `PUBLIC_URL`",
    description: "the sender of emails: `Name <name@example.com>`",
  }),
  mailDays: setting({
    name: "PORTICO_MAIL_DAYS",
    parse: days(1),
    default: "30",
    description: "how many days emails are kept, unless they wait to be sent: 1 to 9999",
  }),
  signingKey: setting({
    name: "PORTICO_SIGNING_KEY",
    parse: optionalText,
    default: "",
    defaultDescription: "none: the server generates its keys and stores them encrypted",
    description:
      "a file with the [keys that sign tokens](../how-to/rotate-secrets.md#keys-that-sign-tokens): a P-256 private key as PEM or JSON Web Key, or a set of these, the first of which signs",
  }),
  introspectionUrl: setting({
    name: "PORTICO_INTROSPECTION_URL",
    parse: introspectionUrl,
    default: "",
    description:
      "the introspection endpoint of [another issuer](../how-to/connect-an-application.md#accept-tokens-of-another-issuer) whose access tokens are accepted: an http or https URL",
  }),
  introspectionClientId: setting({
    name: "PORTICO_INTROSPECTION_CLIENT_ID",
    parse: optionalText,
    default: "",
    description: "the client that introspects; required with the URL",
  }),
  introspectionClientSecret: setting({
    name: "PORTICO_INTROSPECTION_CLIENT_SECRET",
    parse: optionalText,
    default: "",
    description: "the secret of that client; required with the URL",
  }),
  introspectionTenant: setting({
    name: "PORTICO_INTROSPECTION_TENANT",
    parse: optionalText,
    default: "",
    defaultDescription: "the first tenant",
    description: "the id of the tenant whose rows these tokens can access",
  }),
  pagesName: setting({
    name: "PORTICO_PAGES_NAME",
    parse: pagesName,
    default: "",
    defaultDescription: "the app's name",
    description:
      "the name shown on the [pages of the authorization server](accounts.md): one line of at most 100 characters",
  }),
  pagesColour: setting({
    name: "PORTICO_PAGES_COLOUR",
    parse: colour,
    default: "",
    defaultDescription: "`#0b57d0`; in dark mode `#8ab4f8`",
    description:
      "the colour of their buttons and links: `#` and six hexadecimal digits. It is darkened, in dark mode lightened, until text is readable",
  }),
  pagesLogo: setting({
    name: "PORTICO_PAGES_LOGO",
    parse: optionalText,
    default: "",
    description:
      "a file with their logo: PNG, JPEG, WebP or SVG, at most 256 KiB; read at start, served at `{auth_url}/logo`",
  }),
  maxSubscriptions: setting({
    name: "PORTICO_GRAPHQL_SUBSCRIPTIONS",
    parse: wholeNumber(),
    default: "100",
    description: "[subscriptions](subscriptions.md) that a credential may have open in each process",
  }),
  logLevel: setting({
    name: "LOG_LEVEL",
    parse: oneOf(logLevels),
    default: "info",
    description: "`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`",
  }),
  eventDays: setting({
    name: "PORTICO_EVENT_DAYS",
    parse: days(1),
    default: "30",
    description:
      "how many days events are kept, so that a [subscription](subscriptions.md) can resume after an interruption: 1 to 9999",
  }),
  jobSchedule: setting({
    name: "PORTICO_JOB_SCHEDULE",
    parse: schedule,
    format: (seconds) => seconds.join(),
    default: "0,5,30,120,600,3600,10800,21600,43200,86400",
    description:
      "seconds before each attempt of a [handler](jobs.md#attempts), each from the end of the one before: at most 30 numbers",
  }),
  jobTimeout: setting({
    name: "PORTICO_JOB_TIMEOUT",
    parse: wholeNumber(3_600),
    default: "30",
    description: "seconds in which a [handler](jobs.md#attempts) must end: 1 to 3600",
  }),
  webhookSchedule: setting({
    name: "PORTICO_WEBHOOK_SCHEDULE",
    parse: schedule,
    format: (seconds) => seconds.join(),
    default: "0,5,300,1800,7200,18000,36000,50400,72000,86400",
    description:
      "seconds before each attempt of a [webhook delivery](webhooks.md#attempts), each from the end of the one before: at most 30 numbers",
  }),
  webhookTimeout: setting({
    name: "PORTICO_WEBHOOK_TIMEOUT",
    parse: wholeNumber(60),
    default: "15",
    description: "seconds in which a receiver must answer a [webhook](webhooks.md#requests): 1 to 60",
  }),
  webhookPrivate: setting({
    name: "PORTICO_WEBHOOK_PRIVATE",
    parse: optionalFlag,
    default: "",
    defaultDescription: "`true` in sandbox mode, `false` in live mode",
    description:
      "whether [webhook endpoints](webhooks.md#addresses) may be at addresses that are not public, and use plain HTTP: `true` or `false`",
  }),
  usageDays: setting({
    name: "PORTICO_USAGE_DAYS",
    parse: days(1),
    default: "90",
    description:
      "how many days the [counts of key uses](../how-to/monitor.md#key-usage-and-request-log) are kept: 1 to 9999",
  }),
  requestLogDays: setting({
    name: "PORTICO_REQUEST_LOG_DAYS",
    parse: days(0),
    default: "7",
    description:
      "how many days rows of the [request log](../how-to/monitor.md#key-usage-and-request-log) are kept: 0 to 9999; with 0 there is no log",
  }),
  servesDocs: setting({
    name: "PORTICO_DOCS",
    parse: flag,
    format: (isOn) => (isOn ? "1" : "0"),
    default: "1",
    description: "`0` closes the [reference pages](reference-pages.md) and [`/openapi.json`](openapi.md)",
  }),
  sendsServerTiming: setting({
    name: "PORTICO_TIMING",
    parse: flag,
    format: (isOn) => (isOn ? "1" : "0"),
    default: "0",
    description: "`1` sends [`Server-Timing`](../how-to/monitor.md#timing)",
  }),
};

/** The table of docs/reference/settings.md: one line a setting. */
export function documentationRows(): readonly string[] {
  return Object.values(table).map(({ name, default: value, defaultDescription, description }) => {
    const shown = defaultDescription ?? (value === "" ? "none" : `\`${value}\``);
    return `| \`${name}\` | ${shown} | ${description} |`;
  });
}
