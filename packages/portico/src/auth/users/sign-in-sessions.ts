// The sessions of browsers in which users are signed in at the authorization server.

import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { Session } from "../../store/database.ts";
import type { Store } from "../../store/store.ts";
import type { OAuthRecords } from "../tokens/oauth-records.ts";

/** Seconds that a session lives after its last use. */
export const sessionSeconds = 14 * 86_400;

/** The last use of a session. */
export interface LastSeen {
  readonly at: number;
  readonly address: string;
  /** The User-Agent header; `""` if there was none. */
  readonly browser: string;
}

/** The members of a session that are read here, as oidc-provider and its adapter store them. */
export interface SignInSession {
  /** The secret id in the cookie. */
  readonly jti: string;
  /** A public id, which gives no access. */
  readonly uid: string;
  readonly accountId: string;
  readonly loginTs: number;
  readonly seen?: LastSeen;
  readonly authorizations?: Readonly<Record<string, Authorization>>;
}

/** The authorization of an application in a session. */
interface Authorization {
  readonly grantId?: string;
  /** Whether the application keeps access after sign-out (`offline_access`). */
  readonly persistsLogout?: boolean;
}

const sessionModel = "Session";
const endedModel = "EndedSession";
/** A session stays marked as ended for longer than it lives, because a concurrent request may store it again. */
const graceSeconds = 86_400;

export class SignInSessions {
  readonly #store: Store;
  readonly #records: OAuthRecords;

  constructor(store: Store, records: OAuthRecords) {
    this.#store = store;
    this.#records = records;
  }

  /** The sessions of a user, the most recently used first. */
  async list(accountId: string): Promise<readonly SignInSession[]> {
    const sessions = await this.#sessionsOf(accountId);
    const areEnded = await Promise.all(sessions.map(({ uid }) => this.isEnded(uid)));
    return sessions
      .filter((_, index) => !areEnded[index])
      .sort((one, other) => (other.seen?.at ?? other.loginTs) - (one.seen?.at ?? one.loginTs));
  }

  async isEnded(uid: string): Promise<boolean> {
    return (await this.#records.find(endedModel, uid)) !== undefined;
  }

  /** Ends sessions, and revokes the grants of their applications except for offline access. */
  async end(sessions: readonly SignInSession[]): Promise<void> {
    await this.#store.transaction(async (session) => {
      await this.#markEnded(sessions, session);
      for (const { jti, authorizations = {} } of sessions) {
        await this.#records.delete(sessionModel, jti, session);
        for (const { grantId, persistsLogout } of Object.values(authorizations))
          if (grantId !== undefined && !persistsLogout) await this.#records.deleteGrant(grantId, session);
      }
    });
  }

  /** Ends all sessions of a user, and revokes grants with their tokens and links sent by email. */
  async endAll(accountId: string, session: Session): Promise<void> {
    await this.#markEnded(await this.#sessionsOf(accountId, session), session);
    await this.#records.deleteAccount(accountId, session);
  }

  async #sessionsOf(accountId: string, session?: Session): Promise<readonly SignInSession[]> {
    const payloads = await this.#records.listByAccount(sessionModel, accountId, session);
    return payloads.map((payload): SignInSession => JSON.parse(payload));
  }

  async #markEnded(sessions: readonly SignInSession[], session: Session): Promise<void> {
    const expiresAt = epochSeconds() + sessionSeconds + graceSeconds;
    for (const { uid } of sessions)
      await this.#records.put({ model: endedModel, value: uid, payload: "{}", expiresAt }, session);
  }
}
