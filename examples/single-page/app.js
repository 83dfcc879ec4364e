// A page that signs a person in at Portico and shows their posts: a public client (RFC 6749, section 2.1), which proves
// with PKCE (RFC 7636) that who redeems a code is who asked for it.

/** @typedef {{ apiUrl: string, issuer: string, clientId: string }} Settings */
/** @typedef {{ accessToken: string, refreshToken: string, idToken: string, expiresAt: number }} Tokens */

/** As it is registered: this page, without a query. */
const redirectUri = location.origin + location.pathname;
const scope = "openid profile email offline_access posts:read";

/** @type {Settings} */
const settings = await readJson(await fetch("settings.json"));
/** Every endpoint of the authorization server (OpenID Connect Discovery). */
const server = await readJson(await fetch(`${settings.issuer}/.well-known/openid-configuration`));

/**
 * In memory only, so that nothing which comes into the page later finds them in a store, and no two tabs use one refresh
 * token. After a reload the person signs in again, without a password as long as their session at Portico lasts.
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

/** Sends the person to Portico; what the way back must match waits in this tab. */
async function signIn() {
  const [verifier, state] = [randomText(), randomText()];
  sessionStorage.setItem("sign-in", JSON.stringify({ verifier, state }));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const asked = {
    ...{ response_type: "code", client_id: settings.clientId, redirect_uri: redirectUri, scope, state },
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
    // A refresh token is asked for each time (OpenID Connect Core, section 11).
    prompt: "consent",
  };
  location.assign(`${server.authorization_endpoint}?${new URLSearchParams(asked)}`);
}

/** The person is back, with a code or with the reason why there is none. */
async function finishSignIn() {
  const answer = Object.fromEntries(new URLSearchParams(location.search));
  // The code stays neither in the address nor in the history.
  history.replaceState(null, "", redirectUri);
  const begun = JSON.parse(sessionStorage.getItem("sign-in") ?? "{}");
  sessionStorage.removeItem("sign-in");
  // A code that somebody else was given would sign the person in as them.
  if (answer["state"] !== begun.state) throw new Error("This sign-in was not begun in this tab.");
  // RFC 9207: nor does a code of another server come in.
  if (answer["iss"] !== server.issuer) throw new Error("The answer is not Portico's.");
  const { code, error, error_description: why = error } = answer;
  if (code === undefined) throw new Error(why);
  await requestTokens({
    ...{ grant_type: "authorization_code", code, redirect_uri: redirectUri },
    code_verifier: begun.verifier,
  });
}

/** A refresh token serves once, and ends everything if it is used again: whoever needs a new one waits for the same. */
function refresh() {
  if (!tokens) throw new Error("Nobody is signed in.");
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
 * The ID token is kept for signing out only: who the person is, the server is asked with the access token.
 * @param {Record<string, string>} fields
 */
async function requestTokens(fields) {
  const body = new URLSearchParams({ ...fields, client_id: settings.clientId });
  const given = await readJson(await fetch(server.token_endpoint, { method: "POST", body }));
  tokens = {
    accessToken: given.access_token,
    refreshToken: given.refresh_token,
    idToken: given.id_token ?? tokens?.idToken,
    expiresAt: Date.now() + given.expires_in * 1000,
  };
}

/**
 * Reads with the access token, and with a new one where it ends within half a minute.
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

/** Ends what this page may do, and then, at Portico and with the person's consent, their session there. */
async function signOut() {
  if (!tokens) return;
  const { refreshToken, idToken } = tokens;
  tokens = undefined;
  const body = new URLSearchParams({ token: refreshToken, client_id: settings.clientId });
  await fetch(server.revocation_endpoint, { method: "POST", body });
  location.assign(`${server.end_session_endpoint}?${new URLSearchParams({ id_token_hint: idToken })}`);
}

/**
 * The answer, or an error in its words: OAuth has `error_description`, the API `error.message`.
 * @param {Response} response
 */
async function readJson(response) {
  const body = await response.json();
  if (response.ok) return body;
  throw new Error(body.error_description ?? body.error?.message ?? response.statusText);
}

/** @param {() => Promise<void>} work */
async function attempt(work) {
  const fault = element("fault");
  fault.textContent = "";
  try {
    await work();
  } catch (error) {
    fault.textContent = error instanceof Error ? error.message : String(error);
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
  throw new Error(`The page has no ${id}.`);
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
