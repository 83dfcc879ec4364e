// Requests of an OAuth application, sent without a client library, so that tests can also send invalid ones.

import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { Browser, type Shown } from "./browser.ts";
import type { TestServer } from "./scenario.ts";
import type { Answer } from "./server.ts";

export const password = "correct horse battery";
export const callback = "https://app.example.com/callback";
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

export interface CreatedClient {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret?: string;
}

export interface User {
  readonly id: string;
  readonly email: string;
}

export async function makeUser(server: TestServer, email: string, ...words: string[]): Promise<User> {
  const call = ["user", "create", "--name", "Grace Hopper", "--email", email, "--password", password];
  const { user } = await server.command(...call, ...words);
  return user;
}

const texts = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { type: "string" } as const]));
const clientOptions = {
  ...texts("type", "scopes", "grant-types", "auth-method", "jwks", "jwks-uri"),
  "redirect-uri": { type: "string", multiple: true },
  "first-party": { type: "boolean" },
  "resource-server": { type: "boolean" },
} as const;

/**
 * Creates a client from the options of `portico client create`, through the API where possible, which starts no process.
 */
export async function makeClient(server: TestServer, ...words: string[]): Promise<CreatedClient> {
  if (words.includes("--tenant") || !words.includes("--scopes") || server.portico.key === "")
    return server.command("client", "create", "--name", "Planner", ...words);
  const { values } = parseArgs({ args: words, options: clientOptions });
  const options = values as Readonly<Record<string, string | undefined>>;
  const grantTypes = options["grant-types"]?.split(",");
  return server.create("/v1/oauth-clients", {
    name: "Planner",
    type: options["type"],
    scopes: options["scopes"]!.split(","),
    grantTypes: grantTypes?.map((name) => (name === "device_code" ? deviceGrant : name)),
    redirectUris: values["redirect-uri"],
    authMethod: options["auth-method"],
    jwks: options["jwks"] && JSON.parse(options["jwks"]),
    jwksUri: options["jwks-uri"],
    requiresConsent: values["first-party"] ? false : undefined,
    mayIntrospect: values["resource-server"],
  });
}

/** The client of a single-page application. */
export function makePublicClient(
  server: TestServer,
  scopes: string,
  ...words: string[]
): Promise<CreatedClient> {
  return makeClient(server, "--type", "public", "--redirect-uri", callback, "--scopes", scopes, ...words);
}

export interface AuthorizationRequest {
  readonly verifier: string;
  readonly state: string;
  readonly url: string;
}

/** The URL that an application sends a user to. A change to null removes the parameter. */
export function authorizeUrl(
  server: TestServer,
  { clientId }: CreatedClient,
  scope: string,
  changes: Readonly<Record<string, string | null>> = {},
): AuthorizationRequest {
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(8).toString("hex");
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: callback,
    scope,
    state,
    code_challenge: hash("sha256", verifier, "base64url"),
    code_challenge_method: "S256",
    ...changes,
  };
  const query = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return { verifier, state, url: `${server.url}/oauth/authorize?${new URLSearchParams(query)}` };
}

/** Signs in and consents. @returns the redirect to the application */
export async function signInAndAllow(
  browser: Browser,
  url: string,
  { email }: User,
  presented: string = password,
): Promise<URL> {
  let shown = await browser.follow(url);
  if (shown.text.includes('name="password"'))
    shown = await browser.submit(shown, { email, password: presented, choice: "sign-in" });
  if (shown.text.includes('value="allow"')) shown = await browser.submit(shown, { choice: "allow" });
  return redirectOf(shown);
}

export function redirectOf(shown: Shown): URL {
  assert.ok(shown.location, `${shown.status} ${shown.text}`);
  return new URL(shown.location);
}

export async function post(
  server: Pick<TestServer, "url">,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(`${server.url}/oauth${path}`, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { ...headers },
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

export function basic({ clientId, clientSecret = "" }: CreatedClient): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}` };
}

/** A new authorization code, in the form fields that redeem it. */
export async function obtainCode(
  server: TestServer,
  client: CreatedClient,
  user: User,
  scope: string,
  presented: string = password,
): Promise<Record<string, string>> {
  const { url, verifier } = authorizeUrl(server, client, scope);
  const redirect = await signInAndAllow(new Browser(), url, user, presented);
  const code = redirect.searchParams.get("code");
  assert.ok(code, redirect.href);
  return {
    grant_type: "authorization_code",
    code,
    redirect_uri: callback,
    code_verifier: verifier,
    client_id: client.clientId,
  };
}

/** The tokens of a public client for a user. */
export async function obtainTokens(
  server: TestServer,
  client: CreatedClient,
  user: User,
  scope: string,
  presented: string = password,
): Promise<Answer["body"]> {
  const answer = await post(server, "/token", await obtainCode(server, client, user, scope, presented));
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** The text of a page without the values that differ each time, for comparing two pages. */
export function neutral(text: string): string {
  return text
    .replaceAll(/name="(csrf|challenge_token)" value="[^"]+"/g, "")
    .replaceAll(/interaction\/[\w-]+/g, "")
    .replaceAll(/challenge&quot;:&quot;[\w-]+/g, "");
}

export function refused(answer: Answer, error: string, status = 400): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.body?.error, error, answer.text);
  assert.equal(typeof answer.body.error_description, "string");
}
