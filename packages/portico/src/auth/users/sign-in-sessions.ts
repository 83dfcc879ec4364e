// Where people are signed in: the sessions of browsers at the authorization server, as a person sees and ends them.

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
  /** What the browser says of itself; empty where it says nothing. */
  readonly browser: string;
}

/** A session as it is kept: what is read here of what the library writes. */
export interface SignInSession {
  /** What is kept under this is opened by the cookie. */
  readonly jti: string;
  /** Names the session without opening it. */
  readonly uid: string;
  readonly accountId: string;
  readonly loginTs: number;
  readonly seen?: LastSeen;
  readonly authorizations?: Readonly<Record<string, Authorization>>;
}

/** What an application was allowed in a session. */
interface Authorization {
  readonly grantId?: string;
  /** For access that goes on while the person is away. */
  readonly persistsLogout?: boolean;
}

const sessionModel = "Session";
const endedModel = "EndedSession";
/** A request that is under way when a session ends may write it once more. */
const graceSeconds = 86_400;

export class SignInSessions {
  readonly #store: Store;
  readonly #records: OAuthRecords;

  constructor(store: Store, records: OAuthRecords) {
    this.#store = store;
    this.#records = records;
  }

  /** The sessions of a person, the one that was used last first. */
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

  /** Ends sessions, with what applications were allowed in them for as long as the person is there. */
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

  /** Ends everything that a person has opened: sessions, grants and what stands on them, links in mails. */
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
