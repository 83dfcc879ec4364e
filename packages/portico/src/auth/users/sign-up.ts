// Accounts that people create themselves, where the app allows it. A person enters an address and gets an email with a
// link, so no response reveals whether an account exists, and nobody creates one for the address of somebody else.

import { randomBytes } from "node:crypto";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { AccountEmails } from "../../mail/account-emails.ts";
import type { Model } from "../../model/model.ts";
import type { Session } from "../../store/database.ts";
import type { Store } from "../../store/store.ts";
import type { OAuthRecords } from "../tokens/oauth-records.ts";
import type { OAuthUrls } from "../tokens/oauth-urls.ts";
import type { UserLookup } from "./lookup.ts";
import {
  type AccountDetails,
  type AccountOutcome,
  accountCaller,
  accountOutcome,
  createAccount,
  type RowsIn,
} from "./new-account.ts";
import { hashPassword } from "./password.ts";

export const signUpRequestModel = "SignUpRequest";
const requestSeconds = 3_600;
const linkModel = "SignUpLink";
const linkMinutes = 24 * 60;
const tokenBytes = 32;

/** A request for a link, at the client that the person came from. */
export interface SignUpRequest {
  readonly tenantId: string;
  readonly clientId: string;
  readonly email: string;
  /** The network address of the request. */
  readonly address: string;
}

/** A link that can still be used, as it is stored. */
export interface SignUpLink extends Pick<SignUpRequest, "tenantId" | "clientId" | "email"> {
  readonly exp: number;
}

export interface SignUpDependencies {
  readonly store: Store;
  readonly records: OAuthRecords;
  readonly users: UserLookup;
  readonly emails: Pick<AccountEmails, "signUpLink" | "signUpRefused">;
  readonly model: Pick<Model, "roles">;
  readonly rowsIn: RowsIn;
  /** Resolved once the server listens. */
  readonly urls: Promise<OAuthUrls>;
}

export class SignUps {
  /** The role of those who sign up; undefined if nobody can. */
  readonly role: string | undefined;
  readonly #dependencies: SignUpDependencies;

  constructor(dependencies: SignUpDependencies, role: string | undefined) {
    this.#dependencies = dependencies;
    this.role = role;
  }

  /** Stores a request. The account is looked up later, so no response reveals whether it exists. */
  async request({ email, ...request }: SignUpRequest): Promise<void> {
    await this.#dependencies.records.put({
      model: signUpRequestModel,
      value: randomBytes(tokenBytes).toString("base64url"),
      payload: JSON.stringify({ ...request, email: email.toLowerCase() }),
      expiresAt: epochSeconds() + requestSeconds,
    });
  }

  /** Sends the email of a request: a link, or for an existing account the notice that it exists. */
  async send(session: Session, { tenantId, clientId, email, address }: SignUpRequest): Promise<void> {
    const { records, users, emails, urls } = this.#dependencies;
    if (this.role === undefined) return;
    const existing = await users.findByEmail(tenantId, email, session);
    if (existing) return emails.signUpRefused(session, existing, address);
    // A user who was deactivated gets no email.
    if (await users.isTaken(tenantId, email, session)) return;
    const token = randomBytes(tokenBytes).toString("base64url");
    const link: SignUpLink = { tenantId, clientId, email, exp: epochSeconds() + linkMinutes * 60 };
    const record = { model: linkModel, value: token, payload: JSON.stringify(link), expiresAt: link.exp };
    await records.put(record, session);
    const url = `${(await urls).issuer}/sign-up?token=${token}`;
    await emails.signUpLink(session, { tenantId, email }, { url, minutes: linkMinutes, address });
  }

  /** A link that can be used. */
  async find(token: string): Promise<SignUpLink | undefined> {
    if (this.role === undefined) return undefined;
    const record = await this.#dependencies.records.find(linkModel, token);
    const link: SignUpLink | undefined = record && JSON.parse(record.payload);
    return link && link.exp > epochSeconds() ? link : undefined;
  }

  /**
   * Creates the account, once for each link.
   * @throws Problem `validation_error` for an invalid name
   */
  async complete(token: string, { name, password }: AccountDetails): Promise<AccountOutcome> {
    const { store, records, model, rowsIn } = this.#dependencies;
    const link = await this.find(token);
    const { role } = this;
    if (!link || role === undefined) return "invalid";
    const { tenantId, clientId, email } = link;
    const account = {
      tenantId,
      email,
      role,
      name,
      passwordHash: await hashPassword(password),
      origin: clientId,
    };
    return accountOutcome(
      store.transaction(
        async (session): Promise<AccountOutcome> => {
          if ((await records.take(linkModel, token, session)) === undefined) return "invalid";
          await createAccount(store, session, rowsIn(session, accountCaller(model, account)), account);
          return "created";
        },
        { tenantId },
      ),
    );
  }
}
