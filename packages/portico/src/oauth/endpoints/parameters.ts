// Every parameter of the authorization server, its type and its bound. Queries and forms are read strictly and checked
// here, before the library or a page sees them; so nothing arrives there that a database cannot store.

import { maxUriLength, uriPattern } from "../../auth/clients/redirect-uri.ts";
import { Problem } from "../../errors.ts";

/** What a value may hold. A value is a text without U+0000 and lone surrogates in any case. */
interface Parameter {
  /** Characters. */
  readonly max: number;
  /** Where it says nothing, every text is taken: it is for people. */
  readonly pattern?: RegExp;
  /** Whether it may come more than once. */
  readonly isMultiple?: boolean;
}

/** RFC 6749, appendix A: VSCHAR and spaces. */
const visible = /^[\x20-\x7e]*$/;
const token = { max: 8_000, pattern: visible };
const uri = { max: maxUriLength, pattern: uriPattern };
const word = { max: 200, pattern: visible };
const list = { max: 4_000, pattern: visible };
const person = { max: 320 };

/** A name means the same at each endpoint. */
const declared: Readonly<Record<string, Parameter>> = {
  // Clients (RFC 6749, section 2.3; RFC 7523)
  client_id: word,
  client_secret: { max: 1_000, pattern: visible },
  client_assertion: token,
  client_assertion_type: word,
  // Requests for authorization (RFC 6749, 7636, 8707, 9101, 9126, 9449; OpenID Connect Core, section 3.1.2.1)
  response_type: word,
  response_mode: word,
  redirect_uri: uri,
  scope: list,
  state: list,
  nonce: { max: 1_000, pattern: visible },
  code_challenge: word,
  code_challenge_method: word,
  resource: { ...uri, isMultiple: true },
  request: token,
  request_uri: uri,
  dpop_jkt: word,
  prompt: word,
  display: word,
  max_age: { max: 20, pattern: visible },
  ui_locales: word,
  claims_locales: word,
  acr_values: word,
  login_hint: person,
  id_token_hint: token,
  claims: { max: 8_000 },
  registration: { max: 8_000 },
  // Tokens (RFC 6749, 7009, 7662, 8628)
  grant_type: word,
  code: token,
  code_verifier: word,
  refresh_token: token,
  device_code: token,
  token,
  token_type_hint: word,
  access_token: token,
  username: person,
  password: { max: 1_000 },
  // Signing out (OpenID Connect RP-Initiated Logout, section 2)
  post_logout_redirect_uri: uri,
  logout_hint: person,
  logout: word,
  // Forms of the pages
  user_code: { max: 100 },
  xsrf: word,
  confirm: word,
  abort: word,
  csrf: word,
  choice: word,
  email: person,
  slip: word,
  credential: { max: 16_000 },
  remove_passkeys: word,
  application: word,
  session: word,
  end: word,
  remove: word,
  name: { max: 1_000 },
  sent: word,
};

const parameters: ReadonlyMap<string, Parameter> = new Map(Object.entries(declared));

/** Parameters that are not declared are passed over, within bounds of their own. */
const unknown: Parameter = { max: 4_000 };
const maxNameLength = 200;
const maxParameters = 100;

/** @throws Problem `malformed_request` for a query or form that is none, or holds what it must not */
export function requireParameters(text: string): void {
  if (text === "") return;
  const pairs = text.split("&", maxParameters + 1);
  if (pairs.length > maxParameters) throw malformed(`Send at most ${maxParameters} parameters.`);
  const seen = new Set<string>();
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decoded(pair.slice(equals + 1));
    if (name.length > maxNameLength) throw malformed("The name of a parameter is too long.");
    const known = parameters.get(name);
    const { max, pattern, isMultiple } = known ?? unknown;
    if (value.length > max) throw malformed(`The parameter ${shown(name)} is longer than ${max} characters.`);
    if (pattern && !pattern.test(value))
      throw malformed(`The parameter ${name} has characters that it cannot have.`);
    if (known && !isMultiple && seen.has(name)) throw malformed(`Send the parameter ${name} once.`);
    seen.add(name);
  }
}

/** The text of a form. @throws Problem `malformed_request` for what is no UTF-8 */
export function formText(body: Buffer): string {
  try {
    return strictUtf8.decode(body);
  } catch {
    throw malformed("The form is not valid UTF-8.");
  }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Forms are UTF-8 (URL Standard, section 5.1); in another encoding they would be read otherwise than they were checked. */
export function requireUtf8(contentType: string | undefined): void {
  const named = [...(contentType ?? "").matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)];
  const isUtf8 = named.every(([, charset = ""]) => /^utf-?8$/i.test(charset));
  if (named.length > 1 || !isUtf8) throw malformed("Send forms in UTF-8.");
}

function decoded(text: string): string {
  const value = text.includes("+") ? text.replaceAll("+", " ") : text;
  let found: string;
  try {
    // It refuses percent signs without two digits, and what is no UTF-8: surrogates among it.
    found = value.includes("%") ? decodeURIComponent(value) : value;
  } catch {
    throw malformed("A parameter is not encoded as in a form, in UTF-8.");
  }
  if (found.includes("\0")) throw malformed("A parameter has the character U+0000.");
  return found;
}

/** A name from outside as it can stand in a message. */
function shown(name: string): string {
  return /^[\w.-]{1,50}$/.test(name) ? name : "with this name";
}

function malformed(message: string): Problem {
  return new Problem("malformed_request", message);
}
