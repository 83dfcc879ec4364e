// Access tokens of another issuer: it is asked about each (RFC 7662), and believed for a few seconds. While it does
// not answer, nothing is opened.

import type { Caller, Quota } from "../declare/caller.ts";
import { LoggedProblem, type Problem } from "../errors.ts";
import { BoundedMap } from "../plan/bounded-map.ts";
import type { Report } from "../store/report.ts";
import type { AccessTokens } from "./access-token.ts";
import { epochSeconds, kept } from "./oauth-records.ts";
import { invalidCredential } from "./presented-credential.ts";

/** Where another issuer is asked, and as whom. */
export interface Introspection {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const keptMs = 3_000;
const longestMs = 3_000;
const largestAnswer = 64 * 1024;
const mostKept = 10_000;
/** Questions that are under way at once; whoever makes up tokens must not have us flood the other one. */
const mostAsked = 100;
const longestToken = 8_000;
/** RFC 6750, section 2.1 */
const tokenForm = /^[\w.~+/-]+=*$/;
const longestName = 200;

interface Known {
  readonly caller: Caller;
  readonly expiresAt: number;
}

interface Asked {
  readonly at: number;
  readonly known: Promise<Known | undefined>;
}

/** What the answer to a question may say; everything that is not understood is passed over. */
type Answer = Readonly<Record<string, unknown>>;

export class ForeignTokens {
  readonly #introspection: Introspection;
  readonly #tenantId: () => Promise<string>;
  readonly #resource: Promise<string>;
  readonly #quota: Quota;
  readonly #report: Report;
  readonly #asked = new BoundedMap<string, Asked>(mostKept);
  #underWay = 0;
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
    if (token.length > longestToken || !tokenForm.test(token)) throw invalidCredential();
    const known = await this.#know(token);
    if (!known || known.expiresAt <= epochSeconds()) throw invalidCredential();
    return known.caller;
  }

  #know(token: string): Promise<Known | undefined> {
    const key = kept(token);
    const before = this.#asked.get(key);
    const now = performance.now();
    if (before && now - before.at < keptMs) return before.known;
    const known = this.#ask(token);
    this.#asked.set(key, { at: now, known });
    // The next one asks again.
    known.catch(() => this.#asked.set(key, { at: -keptMs, known }));
    return known;
  }

  async #ask(token: string): Promise<Known | undefined> {
    if (this.#underWay >= mostAsked) throw this.#failed(new Error(`${mostAsked} questions wait`));
    this.#underWay += 1;
    try {
      const known = await this.#knownOf(await this.#answer(token));
      this.#isFailing = false;
      return known;
    } catch (err) {
      throw this.#failed(err);
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Reports it: one line until the issuer answers again, not one for each request. */
  #failed(err: unknown): Problem {
    if (!this.#isFailing) this.#report("the issuer of a token does not say whether it is good", { err });
    this.#isFailing = true;
    return unavailable();
  }

  async #answer(token: string): Promise<Answer> {
    const { url, clientId, clientSecret } = this.#introspection;
    // RFC 6749, section 2.3.1: both are encoded as in a form first.
    const [name, secret] = [clientId, clientSecret].map((text) =>
      new URLSearchParams({ "": text }).toString().slice(1),
    );
    const response = await fetch(url, {
      method: "POST",
      headers: {
        accept: "application/json",
        authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`,
      },
      body: new URLSearchParams({ token, token_type_hint: "access_token" }),
      redirect: "error",
      signal: AbortSignal.timeout(longestMs),
    });
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > largestAnswer) throw new Error("the answer is too large");
    }
    if (response.status !== 200) throw new Error(`the answer has the status ${response.status}`);
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== "object" || answer === null) throw new Error("the answer is no object");
    return answer as Answer;
  }

  /** Undefined for a token that is not good, not one for access, or not meant for this API. */
  async #knownOf(answer: Answer): Promise<Known | undefined> {
    const { active, token_type: type, scope, aud, exp, nbf } = answer;
    // Of a refresh token no type is told (RFC 6749, section 7.1).
    if (active !== true || typeof type !== "string" || type.toLowerCase() !== "bearer") return undefined;
    const audiences = aud === undefined ? [] : [aud].flat();
    if (audiences.length > 0 && !audiences.includes(await this.#resource)) return undefined;
    if (typeof nbf === "number" && nbf > epochSeconds()) return undefined;
    const { client_id: clientId, sub } = answer;
    const names = [clientId, sub].filter((name) => typeof name === "string");
    const caller: Caller = {
      tenantId: await this.#tenantId(),
      // Only a subject that is the client itself shows that no person is behind the token (RFC 9068, section 2.2).
      isDelegated: sub === undefined || sub !== clientId,
      credentialId: ["foreign", ...names].map(plain).join("/"),
      scopes: new Set(typeof scope === "string" ? scope.split(" ") : []),
      quota: this.#quota,
    };
    return { caller, expiresAt: typeof exp === "number" ? exp : Number.POSITIVE_INFINITY };
  }
}

/** Every token that is no key: ours is verified here, all others are asked about where there is somebody to ask. */
export class EveryToken implements Pick<AccessTokens, "caller"> {
  readonly #own: AccessTokens;
  readonly #foreign: ForeignTokens;

  constructor(own: AccessTokens, foreign: ForeignTokens) {
    this.#own = own;
    this.#foreign = foreign;
  }

  async caller(token: string): Promise<Caller> {
    return (await this.#own.isOfIssuer(token)) ? this.#own.caller(token) : this.#foreign.caller(token);
  }
}

/** A name from elsewhere as it can stand in a log and in a key. */
function plain(name: string): string {
  return encodeURIComponent(name.slice(0, longestName).toWellFormed());
}

function unavailable(): Problem {
  return new LoggedProblem("unavailable", "The issuer of the token does not answer. Try again.");
}
