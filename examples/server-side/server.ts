// A web application with a server: a confidential client (RFC 6749, section 2.1). The browser gets a session cookie; the
// tokens never leave this process.

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import * as openid from "openid-client";

const { PORT = "8081", PORTICO_URL = "http://127.0.0.1:3000", CLIENT_ID, CLIENT_SECRET } = process.env;
const { AUTH_URL = `${PORTICO_URL}/oauth` } = process.env;
if (!CLIENT_ID || !CLIENT_SECRET) throw new Error("CLIENT_ID or CLIENT_SECRET is missing; see README.md");

const origin = `http://127.0.0.1:${PORT}`;
const redirectUri = `${origin}/callback`;
const scope = "openid profile email posts:read";

const issuer = new URL(AUTH_URL);
const authentication = openid.ClientSecretBasic(CLIENT_SECRET);
const config = await openid.discovery(issuer, CLIENT_ID, undefined, authentication, {
  // Plain HTTP is allowed for a Portico on this machine.
  execute: issuer.protocol === "http:" ? [openid.allowInsecureRequests] : [],
});

interface Session {
  readonly sub: string;
  readonly name: string;
  readonly email: string;
  readonly accessToken: string;
  readonly idToken: string;
  /** Expiry of the access token, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The values that Portico's answer must match. */
type PendingSignIn = Required<
  Pick<openid.AuthorizationCodeGrantChecks, "pkceCodeVerifier" | "expectedState" | "expectedNonce">
>;

/** Values stored for browsers. A cookie holds the random id of a value, which expires. */
class CookieStore<Value> {
  readonly #values = new Map<string, Value>();
  readonly #cookie: string;
  readonly #seconds: number;

  constructor(cookie: string, seconds: number) {
    this.#cookie = cookie;
    this.#seconds = seconds;
  }

  /** Stores a value under a new id. */
  add(response: ServerResponse, value: Value): void {
    const id = randomBytes(32).toString("base64url");
    this.#values.set(id, value);
    setTimeout(() => this.#values.delete(id), this.#seconds * 1000).unref();
    this.#setCookie(response, id, this.#seconds);
  }

  find(request: IncomingMessage): Value | undefined {
    return this.#values.get(this.#idIn(request));
  }

  /** Returns a value and removes it. */
  take(request: IncomingMessage, response: ServerResponse): Value | undefined {
    const value = this.find(request);
    this.#values.delete(this.#idIn(request));
    this.#setCookie(response, "", 0);
    return value;
  }

  #idIn({ headers: { cookie = "" } }: IncomingMessage): string {
    const pairs = cookie.split("; ").map((pair) => pair.split("="));
    return pairs.find(([name]) => name === this.#cookie)?.[1] ?? "";
  }

  /** Lax: other sites can link here, but cannot post forms. Over https, add `Secure`. */
  #setCookie(response: ServerResponse, id: string, seconds: number): void {
    const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
    response.appendHeader("Set-Cookie", `${this.#cookie}=${id}; ${attributes}`);
  }
}

const sessions = new CookieStore<Session>("example_session", 8 * 3600);
const pendingSignIns = new CookieStore<PendingSignIn>("example_sign_in", 600);

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

const handlers = new Map<string, Handler>([
  ["GET /", showPosts],
  ["GET /sign-in", beginSignIn],
  ["GET /callback", finishSignIn],
  ["POST /sign-out", signOut],
]);

/** Redirects the person to Portico. */
async function beginSignIn(_request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
  pendingSignIns.add(response, { pkceCodeVerifier, expectedState, expectedNonce });
  const url = openid.buildAuthorizationUrl(config, {
    ...{ redirect_uri: redirectUri, scope, state: expectedState, nonce: expectedNonce },
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  redirect(response, url.href);
}

/** Handles the redirect back: exchanges the code for tokens, and starts a session with a new id. */
async function finishSignIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pending = pendingSignIns.take(request, response);
  if (!pending) return redirect(response, "/");
  const answer = new URL(request.url ?? "", origin);
  if (answer.searchParams.get("error") === "access_denied") return redirect(response, "/");
  const tokens = await openid.authorizationCodeGrant(config, answer, { ...pending, idTokenExpected: true });
  const { sub, name, email } = tokens.claims()!;
  sessions.take(request, response);
  sessions.add(response, {
    ...{ sub, name: String(name), email: String(email) },
    ...{ accessToken: tokens.access_token, idToken: tokens.id_token! },
    expiresAt: Date.now() + (tokens.expiresIn() ?? 0) * 1000,
  });
  redirect(response, "/");
}

async function showPosts(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const session = sessions.find(request);
  if (!session) return show(response, `<p><a href="/sign-in">Sign in</a></p>`);
  // Without offline_access there is no refresh token. While the person is signed in at Portico, it redirects them back
  // here immediately.
  if (session.expiresAt <= Date.now()) return redirect(response, "/sign-in");
  const query = new URLSearchParams({ authorId: session.sub, fields: "title", limit: "100" });
  const answer = await fetch(`${PORTICO_URL}/v1/posts?${query}`, {
    headers: { Authorization: `Bearer ${session.accessToken}` },
  });
  if (answer.status === 401) {
    // The access was revoked, or the client was deleted.
    sessions.take(request, response);
    return redirect(response, "/");
  }
  if (!answer.ok) throw new Error(`the API responded with ${answer.status}: ${await answer.text()}`);
  const { data } = (await answer.json()) as { data: { title: string }[] };
  const items = data.map(({ title }) => `<li>${escaped(title)}</li>`).join("\n");
  show(
    response,
    `<p>Signed in as <strong>${escaped(session.name)}</strong>, ${escaped(session.email)}.</p>
${items === "" ? "<p>You have no posts yet.</p>" : `<ul>\n${items}\n</ul>`}
<form method="post" action="/sign-out"><button>Sign out</button></form>`,
  );
}

/** Ends the session here, then asks the person at Portico whether to end the one there. */
async function signOut(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const session = sessions.take(request, response);
  if (!session) return redirect(response, "/");
  await openid.tokenRevocation(config, session.accessToken);
  redirect(response, openid.buildEndSessionUrl(config, { id_token_hint: session.idToken }).href);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location }).end();
}

/** No scripts or images. Forms may post here, and be redirected to Portico. */
const policy = `default-src 'none'; form-action 'self' ${issuer.origin}; base-uri 'none'; frame-ancestors 'none'`;

function show(response: ServerResponse, body: string, status = 200): void {
  const headers = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy };
  const head = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">`;
  response
    .writeHead(status, { ...headers, "Cache-Control": "no-store" })
    .end(`${head}<title>My posts</title>\n<h1>My posts</h1>\n${body}`);
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const handle = handlers.get(`${request.method} ${request.url?.split("?")[0]}`);
  if (!handle) return show(response, `<p>Page not found. <a href="/">Back</a></p>`, 404);
  try {
    await handle(request, response);
  } catch (error) {
    console.error(error);
    show(response, `<p>Something went wrong. <a href="/">Try again</a></p>`, 502);
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`${origin}/`));
