// Settings come from the environment or from the program that embeds the server; the app may set other defaults. An
// invalid value stops the start.

import type { PublicTenant } from "../../auth/anonymous/anonymous-callers.ts";
import type { Introspection } from "../../auth/tokens/token-introspection.ts";
import { OperatorError } from "../../errors.ts";
import { type GraphqlLimits, standardLimits } from "../../graphql/document/graphql-limits.ts";
import { minSecretLength, type Parser, urlHost } from "./parsers.ts";
import { type Setting, table } from "./table.ts";

type Table = typeof table;
type SettingName = keyof Table;
type Values = {
  readonly [Name in SettingName]: Table[Name]["parse"] extends Parser<infer Value> ? Value : never;
};

/** The values of all settings, parsed and checked. */
export interface Settings extends Values {
  /** {base_url}, without a slash at the end. */
  readonly publicUrl: string;
  readonly webhookPrivate: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const entries = Object.entries(table) as unknown as readonly (readonly [SettingName, Setting<unknown>])[];

/**
 * Reads the settings of `portico serve` and of every command.
 *
 * @param environment by variable, as the defaults: `{ PORT: "8080" }`; an empty text counts as not set
 * @param defaults of the app, in `portico.config.ts`
 * @throws OperatorError naming the variable, its text and what is allowed
 */
export function readSettings(environment: Environment, defaults: Environment = {}): Settings {
  return settingsFrom(({ name }) => [environment[name], name], defaults);
}

/**
 * Checks the settings of a server that a program embeds; the environment is not read.
 *
 * @param values by their names in the table; missing and undefined ones have their defaults
 * @throws OperatorError naming the setting, its value and what is allowed
 */
export function completeSettings(values: Partial<Settings>, defaults: Environment): Settings {
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(table, name));
  if (unknown !== undefined)
    throw new OperatorError(`createServer: unknown setting ${unknown}; the type ServerOptions lists all`);
  const settings = settingsFrom(({ format = String }, key) => {
    const value = values[key];
    if (value === null) throw new OperatorError(`${key} is null; leave it out for its default`);
    return [value === undefined ? undefined : format(value), key];
  }, defaults);
  for (const [key] of entries) requireType(key, values[key], settings[key]);
  return settings;
}

/** JavaScript passes what TypeScript would refuse: the text of a value can be valid where the value is not. */
function requireType(key: SettingName, value: unknown, parsed: unknown): void {
  const isUnset = value === undefined || value === "";
  if (!isUnset && (typeof value !== typeof parsed || Array.isArray(value) !== Array.isArray(parsed)))
    throw new OperatorError(`${key} is of the wrong type: ${typeof value} instead of ${typeof parsed}`);
}

/** @param textOf returns the text of a setting, undefined if it is not set, and the name to report */
function settingsFrom(
  textOf: (setting: Setting<unknown>, key: SettingName) => readonly [string | undefined, string],
  defaults: Environment,
): Settings {
  const values = Object.fromEntries(
    entries.map(([key, setting]) => {
      const [text, name] = textOf(setting, key);
      return [key, text ? setting.parse(text, name) : parseDefault(setting, defaults)];
    }),
  ) as Values; // Each value comes from the parser of its own entry.
  const { host, port, publicUrl = `http://${urlHost(host)}:${port}` } = values;
  const { webhookPrivate = values.mode === "sandbox" } = values;
  const settings = { ...values, publicUrl, webhookPrivate };
  if (settings.mode === "live" && !settings.secrets)
    throw new OperatorError(
      `PORTICO_SECRET is missing; live mode needs ${minSecretLength} random characters or more`,
    );
  introspectionOf(settings);
  return settings;
}

function parseDefault({ name, default: standard, parse }: Setting<unknown>, defaults: Environment): unknown {
  return parse(defaults[name] ?? standard, name);
}

/** Whose public resources are served to requests without a credential. */
export function publicTenantOf({ publicTenant, mode }: Settings): PublicTenant {
  if (publicTenant === undefined) return mode === "sandbox" ? "first" : "none";
  return publicTenant === "none" ? "none" : { id: publicTenant };
}

/** {auth_url}, also the issuer. */
export function authUrl(settings: Settings, publicUrl: string): string {
  return settings.authUrl ?? `${publicUrl}/oauth`;
}

/** The limits of a GraphQL operation. */
export function graphqlLimitsOf(settings: Settings): GraphqlLimits {
  return {
    ...standardLimits,
    depth: settings.graphqlDepth,
    cost: settings.graphqlCost,
    fields: settings.graphqlFields,
    tokens: settings.graphqlTokens,
  };
}

/** The introspection of another issuer's tokens, if configured. @throws OperatorError for incomplete settings */
export function introspectionOf(
  settings: Values,
): (Introspection & { readonly tenantId: string | undefined }) | undefined {
  const { introspectionUrl: url, introspectionClientId: clientId } = settings;
  const { introspectionClientSecret: clientSecret, introspectionTenant: tenantId } = settings;
  if (url && clientId && clientSecret) return { url, clientId, clientSecret, tenantId };
  if (!url && !clientId && !clientSecret && !tenantId) return undefined;
  if (!url)
    throw new OperatorError("PORTICO_INTROSPECTION_URL must be an http or https URL without a user name");
  throw new OperatorError(
    "PORTICO_INTROSPECTION_URL needs PORTICO_INTROSPECTION_CLIENT_ID and PORTICO_INTROSPECTION_CLIENT_SECRET",
  );
}
