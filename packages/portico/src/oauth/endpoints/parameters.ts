// Every parameter of the authorization server, with its characters and length. Queries and forms are parsed strictly and
// checked before oidc-provider or a page reads them, so no value reaches the database that it cannot store.

import { maxUriLength, uriPattern } from "../../auth/clients/redirect-uri.ts";
import { Problem } from "../../errors.ts";

/** The allowed values of a parameter. None can contain U+0000 or lone surrogates. */
interface Parameter {
  /** Maximum number of characters. */
  readonly max: number;
  /** If undefined, any text is allowed: users enter it. */
  readonly pattern?: RegExp;
  /** Whether the parameter can be repeated. */
  readonly isMultiple?: boolean;
}

/** RFC 6749, appendix A: VSCHAR and spaces. */
const visible = /^[\x20-\x7e]*$/;
const token = { max: 8_000, pattern: visible };
const uri = { max: maxUriLength, pattern: uriPattern };
const word = { max: 200, pattern: visible };
const list = { max: 4_000, pattern: visible };
const userInput = { max: 320 };

/** A name has the same meaning at every endpoint. */
const declared: Readonly<Record<string, Parameter>> = {
  // Clients (RFC 6749, section 2.3; RFC 7523)
  client_id: word,
  client_secret: { max: 1_000, pattern: visible },
  client_assertion: token,
  client_assertion_type: word,
  // Authorization requests (RFC 6749, 7636, 8707, 9101, 9126, 9449; OpenID Connect Core, section 3.1.2.1)
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
  login_hint: userInput,
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
  username: userInput,
  password: { max: 1_000 },
  // Signing out (OpenID Connect RP-Initiated Logout, section 2)
  post_logout_redirect_uri: uri,
  logout_hint: userInput,
  logout: word,
  // Forms of the pages
  user_code: { max: 100 },
  xsrf: word,
  confirm: word,
  abort: word,
  csrf: word,
  choice: word,
  email: userInput,
  challenge_token: word,
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

/** Undeclared parameters are ignored, within these bounds. */
const unknown: Parameter = { max: 4_000 };
const maxNameLength = 200;
const maxParameters = 100;

/** @throws Problem `malformed_request` for a query or form that is malformed or has an invalid parameter */
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
    if (value.length > max)
      throw malformed(`The parameter ${printable(name)} is longer than ${max} characters.`);
    if (pattern && !pattern.test(value))
      throw malformed(`The parameter ${name} contains characters that are not allowed.`);
    if (known && !isMultiple && seen.has(name)) throw malformed(`Send the parameter ${name} once.`);
    seen.add(name);
  }
}

/** @throws Problem `malformed_request` for a body that is not UTF-8 */
export function formText(body: Buffer): string {
  try {
    return strictUtf8.decode(body);
  } catch {
    throw malformed("The form is not valid UTF-8.");
  }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Forms are UTF-8 (URL Standard, section 5.1). Read in another encoding, a form would differ from what was checked. */
export function requireUtf8(contentType: string | undefined): void {
  const named = [...(contentType ?? "").matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)];
  const isUtf8 = named.every(([, charset = ""]) => /^utf-?8$/i.test(charset));
  if (named.length > 1 || !isUtf8) throw malformed("Send forms in UTF-8.");
}

function decoded(text: string): string {
  const value = text.includes("+") ? text.replaceAll("+", " ") : text;
  let decodedValue: string;
  try {
    // Throws for a percent sign without two digits, and for bytes that are not UTF-8, including surrogates.
    decodedValue = value.includes("%") ? decodeURIComponent(value) : value;
  } catch {
    throw malformed("A parameter is not form-encoded UTF-8.");
  }
  if (decodedValue.includes("\0")) throw malformed("A parameter contains the character U+0000.");
  return decodedValue;
}

/** A parameter name from a request, in a form that is safe in a message. */
function printable(name: string): string {
  return /^[\w.-]{1,50}$/.test(name) ? name : "with this name";
}

function malformed(message: string): Problem {
  return new Problem("malformed_request", message);
}
