// Access tokens of another issuer: it is asked about each (RFC 7662), and believed for a few seconds. While it does
// not answer, nothing is opened.

import type { Caller, Quota } from "../../declare/caller.ts";
import { LoggedProblem, type Problem } from "../../errors.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { Report } from "../../lib/report.ts";
import { OutboundFetch } from "../../net/outbound-fetch.ts";
import { everyScope } from "../api-keys/rules.ts";
import { invalidCredential } from "../presented-credential.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { hashToken } from "./hash-token.ts";

/** Where another issuer is asked, and as whom. */
export interface Introspection {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const cacheTtlMs = 3_000;
const timeoutMs = 3_000;
const maxBytes = 64 * 1024;
const maxCachedTokens = 10_000;
/** Questions that are under way at once; whoever makes up tokens must not have us flood the other one. */
const maxConcurrentRequests = 100;
const maxTokenLength = 8_000;
/** RFC 6750, section 2.1 */
const tokenPattern = /^[\w.~+/-]+=*$/;
const maxNameLength = 200;

interface ActiveToken {
  readonly caller: Caller;
  readonly expiresAt: number;
}

interface CachedIntrospection {
  readonly at: number;
  readonly token: Promise<ActiveToken | undefined>;
}

/** What the answer to a question may say; everything that is not understood is passed over. */
type IntrospectionResponse = Readonly<Record<string, unknown>>;

export class IntrospectedTokens {
  readonly #introspection: Introspection;
  readonly #tenantId: () => Promise<string>;
  readonly #resource: Promise<string>;
  readonly #quota: Quota;
  readonly #report: Report;
  readonly #cache = new BoundedMap<string, CachedIntrospection>(maxCachedTokens);
  /** The operator chose the URL, so it can be a private one. */
  readonly #outbound = new OutboundFetch({ isPrivateAllowed: true, timeoutMs, maxBytes });
  #pending = 0;
  #isFailing = false;

  /**
   * @param tenantId of the rows that these tokens open
   * @param resource how tokens name this API; known once the server listens
   * @param quota of each client of the other issuer, and of each person through one
   */
  constructor(
    introspection: Introspection,
    tenantId: () => Promise<string>,
    resource: Promise<string>,
    quota: Quota,
    report: Report,
  ) {
    this.#introspection = introspection;
    this.#tenantId = tenantId;
    this.#resource = resource;
    this.#quota = quota;
    this.#report = report;
  }

  /** Who sends a request with this token. @throws Problem `invalid_credential`, or `unavailable` where nobody says */
  async caller(token: string): Promise<Caller> {
    if (token.length > maxTokenLength || !tokenPattern.test(token)) throw invalidCredential();
    const known = await this.#lookUp(token);
    if (!known || known.expiresAt <= epochSeconds()) throw invalidCredential();
    return known.caller;
  }

  #lookUp(token: string): Promise<ActiveToken | undefined> {
    const key = hashToken(token);
    const cached = this.#cache.get(key);
    const now = performance.now();
    if (cached && now - cached.at < cacheTtlMs) return cached.token;
    const activeToken = this.#introspect(token);
    this.#cache.set(key, { at: now, token: activeToken });
    // The next one asks again.
    activeToken.catch(() => this.#cache.set(key, { at: -cacheTtlMs, token: activeToken }));
    return activeToken;
  }

  async #introspect(token: string): Promise<ActiveToken | undefined> {
    if (this.#pending >= maxConcurrentRequests)
      throw this.#reportFailure(new Error(`${maxConcurrentRequests} questions wait`));
    this.#pending += 1;
    try {
      const known = await this.#activeToken(await this.#request(token));
      this.#isFailing = false;
      return known;
    } catch (err) {
      throw this.#reportFailure(err);
    } finally {
      this.#pending -= 1;
    }
  }

  /** Reports it: one line until the issuer answers again, not one for each request. */
  #reportFailure(err: unknown): Problem {
    if (!this.#isFailing) this.#report("the issuer of a token does not say whether it is good", { err });
    this.#isFailing = true;
    return unavailable();
  }

  async #request(token: string): Promise<IntrospectionResponse> {
    const { url, clientId, clientSecret } = this.#introspection;
    // RFC 6749, section 2.3.1: both are encoded as in a form first.
    const [name, secret] = [clientId, clientSecret].map((text) =>
      new URLSearchParams({ "": text }).toString().slice(1),
    );
    const { status, body } = await this.#outbound.fetch(new URL(url), {
      method: "POST",
      headers: {
        accept: "application/json",
        authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`,
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new URLSearchParams({ token, token_type_hint: "access_token" }).toString(),
    });
    if (status !== 200) throw new Error(`the answer has the status ${status}`);
    const introspection: unknown = JSON.parse(body.toString());
    if (typeof introspection !== "object" || introspection === null)
      throw new Error("the answer is no object");
    return introspection as IntrospectionResponse;
  }

  /** Undefined for a token that is not good, not one for access, or not meant for this API. */
  async #activeToken(introspection: IntrospectionResponse): Promise<ActiveToken | undefined> {
    const { active, token_type: type, scope, aud, exp, nbf } = introspection;
    // Of a refresh token no type is told (RFC 6749, section 7.1).
    if (active !== true || typeof type !== "string" || type.toLowerCase() !== "bearer") return undefined;
    const audiences = aud === undefined ? [] : [aud].flat();
    if (audiences.length > 0 && !audiences.includes(await this.#resource)) return undefined;
    if (typeof nbf === "number" && nbf > epochSeconds()) return undefined;
    const { client_id: clientId, sub } = introspection;
    const names = [clientId, sub].filter((name) => typeof name === "string");
    const caller: Caller = {
      tenantId: await this.#tenantId(),
      // Only a subject that is the client itself shows that no person is behind the token (RFC 9068, section 2.2).
      isDelegated: sub === undefined || sub !== clientId,
      credentialId: ["foreign", ...names].map(encodeName).join("/"),
      // `*` is a scope of our own keys only.
      scopes: new Set(
        typeof scope === "string" ? scope.split(" ").filter((each) => each !== everyScope) : [],
      ),
      quota: this.#quota,
    };
    return { caller, expiresAt: typeof exp === "number" ? exp : Number.POSITIVE_INFINITY };
  }
}

/** Every token that is no key: ours is verified here, all others are asked about where there is somebody to ask. */
export class TokenAuthenticator implements Pick<AccessTokens, "caller"> {
  readonly #own: AccessTokens;
  readonly #introspected: IntrospectedTokens;

  constructor(own: AccessTokens, introspected: IntrospectedTokens) {
    this.#own = own;
    this.#introspected = introspected;
  }

  async caller(token: string): Promise<Caller> {
    return (await this.#own.isOfIssuer(token)) ? this.#own.caller(token) : this.#introspected.caller(token);
  }
}

/** A name from elsewhere as it can stand in a log and in a key. */
function encodeName(name: string): string {
  return encodeURIComponent(name.slice(0, maxNameLength).toWellFormed());
}

function unavailable(): Problem {
  return new LoggedProblem("unavailable", "The issuer of the token does not answer. Try again.");
}
