// Signs a person in at Portico and shows their posts: a public client (RFC 6749, section 2.1). PKCE (RFC 7636) proves that
// the client that redeems a code is the one that requested it.

/** @typedef {{ apiUrl: string, issuer: string, clientId: string }} Settings */
/** @typedef {{ accessToken: string, refreshToken: string, idToken: string, expiresAt: number }} Tokens */

/** As registered: the URL of this page without a query. */
const redirectUri = location.origin + location.pathname;
const scope = "openid profile email offline_access posts:read";

/** @type {Settings} */
const settings = await readJson(await fetch("settings.json"));
/** The endpoints of the authorization server (OpenID Connect Discovery). */
const server = await readJson(await fetch(`${settings.issuer}/.well-known/openid-configuration`));

/**
 * In memory only: no injected script finds them in a store, and no two tabs use the same refresh token. After a reload the
 * person signs in again, without a password while their session at Portico lasts.
 * @type {Tokens | undefined}
 */
let tokens;
/** @type {Promise<void> | undefined} */
let refreshing;

onClick("sign-in", signIn);
onClick("sign-out", signOut);
onClick("refresh", async () => {
  await refresh();
  await show();
});
await attempt(async () => {
  if (new URLSearchParams(location.search).has("state")) await finishSignIn();
  await show();
});

/** Redirects the person to Portico. The values that its answer must match stay in this tab. */
async function signIn() {
  const [verifier, state] = [randomText(), randomText()];
  sessionStorage.setItem("sign-in", JSON.stringify({ verifier, state }));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const parameters = {
    ...{ response_type: "code", client_id: settings.clientId, redirect_uri: redirectUri, scope, state },
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
    // A refresh token requires consent each time (OpenID Connect Core, section 11).
    prompt: "consent",
  };
  location.assign(`${server.authorization_endpoint}?${new URLSearchParams(parameters)}`);
}

/** Handles the redirect back, with a code or with an error. */
async function finishSignIn() {
  const answer = Object.fromEntries(new URLSearchParams(location.search));
  // Removes the code from the address bar and the history.
  history.replaceState(null, "", redirectUri);
  const pending = JSON.parse(sessionStorage.getItem("sign-in") ?? "{}");
  sessionStorage.removeItem("sign-in");
  // A code issued to somebody else would sign the person in as them.
  if (answer["state"] !== pending.state) throw new Error("This sign-in was not started in this tab.");
  // RFC 9207: refuses a code of another server.
  if (answer["iss"] !== server.issuer) throw new Error("The response is not from Portico.");
  const { code, error, error_description: reason = error } = answer;
  if (code === undefined) throw new Error(reason);
  await requestTokens({
    ...{ grant_type: "authorization_code", code, redirect_uri: redirectUri },
    code_verifier: pending.verifier,
  });
}

/** A refresh token is single-use, and using it again ends the grant, so concurrent callers share one request. */
function refresh() {
  if (!tokens) throw new Error("You are not signed in.");
  refreshing ??= requestTokens({ grant_type: "refresh_token", refresh_token: tokens.refreshToken })
    .catch((error) => {
      tokens = undefined;
      throw error;
    })
    .finally(() => {
      refreshing = undefined;
    });
  return refreshing;
}

/**
 * The ID token is used for signing out only. The person's name comes from the userinfo endpoint.
 * @param {Record<string, string>} fields
 */
async function requestTokens(fields) {
  const body = new URLSearchParams({ ...fields, client_id: settings.clientId });
  const response = await readJson(await fetch(server.token_endpoint, { method: "POST", body }));
  tokens = {
    accessToken: response.access_token,
    refreshToken: response.refresh_token,
    idToken: response.id_token ?? tokens?.idToken,
    expiresAt: Date.now() + response.expires_in * 1000,
  };
}

/**
 * Reads with the access token. Refreshes it first if it expires within half a minute.
 * @param {string} url
 */
async function read(url) {
  if (tokens && tokens.expiresAt < Date.now() + 30_000) await refresh();
  return readJson(await fetch(url, { headers: { Authorization: `Bearer ${tokens?.accessToken}` } }));
}

async function show() {
  element("signed-out").hidden = tokens !== undefined;
  element("signed-in").hidden = tokens === undefined;
  if (!tokens) return;
  const person = await read(server.userinfo_endpoint);
  element("name").textContent = person.name;
  element("email").textContent = person.email;
  const query = new URLSearchParams({ authorId: person.sub, fields: "title", limit: "100" });
  /** @type {{ data: { title: string }[] }} */
  const page = await read(`${settings.apiUrl}/v1/posts?${query}`);
  const items = page.data.map(({ title }) => {
    const item = document.createElement("li");
    item.textContent = title;
    return item;
  });
  element("posts").replaceChildren(...items);
  element("none").hidden = items.length > 0;
  element("until").textContent = new Date(tokens.expiresAt).toLocaleTimeString();
}

/** Revokes the tokens, then asks the person at Portico whether to end their session there. */
async function signOut() {
  if (!tokens) return;
  const { refreshToken, idToken } = tokens;
  tokens = undefined;
  const body = new URLSearchParams({ token: refreshToken, client_id: settings.clientId });
  await fetch(server.revocation_endpoint, { method: "POST", body });
  location.assign(`${server.end_session_endpoint}?${new URLSearchParams({ id_token_hint: idToken })}`);
}

/**
 * The body, or an error with its message: `error_description` of OAuth, `error.message` of the API.
 * @param {Response} response
 */
async function readJson(response) {
  const body = await response.json();
  if (response.ok) return body;
  throw new Error(body.error_description ?? body.error?.message ?? response.statusText);
}

/** @param {() => Promise<void>} work */
async function attempt(work) {
  const message = element("error");
  message.textContent = "";
  try {
    await work();
  } catch (error) {
    message.textContent = error instanceof Error ? error.message : String(error);
    element("signed-out").hidden = tokens !== undefined;
    element("signed-in").hidden = tokens === undefined;
  }
}

/**
 * @param {string} id
 * @param {() => Promise<void>} work
 */
function onClick(id, work) {
  element(id).addEventListener("click", () => attempt(work));
}

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
function element(id) {
  const found = document.getElementById(id);
  if (found) return found;
  throw new Error(`The page has no element ${id}.`);
}

function randomText() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** @param {Uint8Array} bytes */
function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
