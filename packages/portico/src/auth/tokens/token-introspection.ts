// Access tokens of another issuer, verified by its introspection endpoint (RFC 7662). Results are cached for a few seconds.
// While the endpoint fails, every token is refused with 503.

import type { Caller, Quota } from "../../declare/caller.ts";
import { everyScope } from "../../declare/roles.ts";
import { LoggedProblem, type Problem } from "../../errors.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import { FrozenSet } from "../../lib/frozen-set.ts";
import type { Report } from "../../lib/report.ts";
import { OutboundFetch } from "../../net/outbound-fetch.ts";
import { invalidCredential } from "../presented-credential.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { hashToken } from "./hash-token.ts";

/** The introspection endpoint of the other issuer, and Portico's credentials there. */
export interface Introspection {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const cacheTtlMs = 3_000;
const timeoutMs = 3_000;
const maxBytes = 64 * 1024;
const maxCachedTokens = 10_000;
/** Concurrent introspection requests, so that a flood of forged tokens does not become one at the other issuer. */
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

/** Members of an introspection response; unknown ones are ignored. */
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
   * @param tenantId the tenant that these tokens give access to
   * @param resource the audience of tokens for this API; resolved once the server listens
   * @param quota of each client of the other issuer, and of each user through a client
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

  /** The caller of a token. @throws Problem `invalid_credential`, or `unavailable` while introspection fails */
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
    // After a failure, the next request introspects again.
    activeToken.catch(() => this.#cache.set(key, { at: -cacheTtlMs, token: activeToken }));
    return activeToken;
  }

  async #introspect(token: string): Promise<ActiveToken | undefined> {
    if (this.#pending >= maxConcurrentRequests)
      throw this.#reportFailure(new Error(`${maxConcurrentRequests} introspection requests are pending`));
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

  /** Logs the first of consecutive failures. */
  #reportFailure(err: unknown): Problem {
    if (!this.#isFailing) this.#report("token introspection at the other issuer fails", { err });
    this.#isFailing = true;
    return unavailable();
  }

  async #request(token: string): Promise<IntrospectionResponse> {
    const { url, clientId, clientSecret } = this.#introspection;
    // RFC 6749, section 2.3.1: both are form-encoded first.
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
    if (status !== 200) throw new Error(`the introspection endpoint responded with status ${status}`);
    const introspection: unknown = JSON.parse(body.toString());
    if (typeof introspection !== "object" || introspection === null)
      throw new Error("the introspection response is not an object");
    return introspection as IntrospectionResponse;
  }

  /** Undefined for a token that is inactive, no access token, or for another audience. */
  async #activeToken(introspection: IntrospectionResponse): Promise<ActiveToken | undefined> {
    const { active, token_type: type, scope, aud, exp, nbf } = introspection;
    // Refresh tokens have no token type (RFC 6749, section 7.1).
    if (active !== true || typeof type !== "string" || type.toLowerCase() !== "bearer") return undefined;
    const audiences = aud === undefined ? [] : [aud].flat();
    if (audiences.length > 0 && !audiences.includes(await this.#resource)) return undefined;
    if (typeof nbf === "number" && nbf > epochSeconds()) return undefined;
    const { client_id: clientId, sub } = introspection;
    const names = [clientId, sub].filter((name) => typeof name === "string");
    const caller: Caller = {
      kind: "client",
      tenantId: await this.#tenantId(),
      // The users of the other issuer are not users of this server.
      userId: null,
      role: null,
      // Only a token whose subject is its client acts for no user (RFC 9068, section 2.2).
      isDelegated: sub === undefined || sub !== clientId,
      credentialId: ["foreign", ...names].map(encodeName).join("/"),
      // `*` is a scope of API keys only.
      scopes: new FrozenSet(
        typeof scope === "string" ? scope.split(" ").filter((each) => each !== everyScope) : [],
      ),
      quota: this.#quota,
    };
    return { caller, expiresAt: typeof exp === "number" ? exp : Number.POSITIVE_INFINITY };
  }
}

/** Verifies access tokens: Portico's own locally, all others by introspection. */
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

/** Encodes a name of the other issuer so that it is safe in logs and credential ids. */
function encodeName(name: string): string {
  return encodeURIComponent(name.slice(0, maxNameLength).toWellFormed());
}

function unavailable(): Problem {
  return new LoggedProblem("unavailable", "The issuer of the token cannot be reached. Try again.");
}
