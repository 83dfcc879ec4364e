// Notices about keys as mails to their owners, written in the transaction of what they tell.

import type { HookContext, Rows } from "../declare/resource.ts";
import type { Model } from "../model/model.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { type InitialStatus, insertMail, mails } from "./message.ts";
import {
  type KeyChange,
  type KeyFacts,
  keyCreatedEmail,
  keyExpiringSoonEmail,
  keyRevokedEmail,
  keyRotatedEmail,
} from "./templates/key-notices.ts";
import type { Email } from "./templates/layout.ts";

/** What is known of a key when its owner is written to. */
type Key = Omit<KeyFacts, "ownerName" | "apiName" | "keysUrl"> & { readonly ownerId: string | null };

interface Recipient {
  readonly name: string;
  readonly email: string;
}

/** Who is behind the ids of a write. */
export interface KeyDirectory {
  user(rows: Rows, id: string): Promise<Recipient | undefined>;
  key(rows: Rows, id: string): Promise<{ readonly name: string; readonly prefix: string } | undefined>;
}

/** What stands in all letters, and what becomes of them. */
export interface EmailSettings extends Pick<KeyFacts, "apiName" | "keysUrl"> {
  readonly status: InitialStatus;
}

export class MailedKeyEmails {
  readonly #directory: KeyDirectory;
  readonly #settings: EmailSettings;

  constructor(directory: KeyDirectory, settings: EmailSettings) {
    this.#directory = directory;
    this.#settings = settings;
  }

  async created(key: Key, context: HookContext): Promise<void> {
    await this.#notify("created", key, context, (facts) => keyCreatedEmail(facts));
  }

  /** @param old with the `expiresAt` at which it now ends */
  async rotated(old: Key, replacement: Key, context: HookContext): Promise<void> {
    await this.#notify("rotated", old, context, (facts) => keyRotatedEmail({ ...facts, replacement }));
  }

  async revoked(key: Key, context: HookContext): Promise<void> {
    await this.#notify("revoked", key, context, (facts) => keyRevokedEmail(facts));
  }

  async #notify(
    event: string,
    key: Key,
    context: HookContext,
    render: (facts: KeyFacts & KeyChange) => Email,
  ): Promise<void> {
    const owner = key.ownerId === null ? undefined : await this.#directory.user(context.rows, key.ownerId);
    if (!owner) return;
    const { status } = this.#settings;
    const facts = { ...factsOf(key, owner, this.#settings), ...(await this.#keyChange(context)) };
    const mail = { ...render(facts), to: owner.email, kind: `api_key.${event}`, status };
    await context.rows.create(mails, mail);
  }

  async #keyChange({ caller, now, rows }: HookContext): Promise<KeyChange> {
    const { address, credentialId, userId } = caller;
    if (address === undefined) return { by: "a command on the server", at: now, address };
    const key = await this.#directory.key(rows, credentialId);
    const user = userId === undefined ? undefined : await this.#directory.user(rows, userId);
    const credential = key ? `the API key ${key.name} (${key.prefix}…)` : credentialId;
    return { by: user ? `${credential} of ${user.name}` : credential, at: now, address };
  }
}

export class MailedExpiryEmails {
  readonly #store: Store;
  readonly #model: Model;
  readonly #settings: EmailSettings;

  constructor(store: Store, model: Model, settings: EmailSettings) {
    this.#store = store;
    this.#model = model;
    this.#settings = settings;
  }

  /** Writes to the owner in the transaction of `session`. */
  async expiringSoon(session: Session, tenantId: string, key: Key, owner: Recipient): Promise<void> {
    const { status } = this.#settings;
    const email = keyExpiringSoonEmail(factsOf(key, owner, this.#settings));
    const mail = { ...email, to: owner.email, kind: "api_key.expiring_soon", status };
    await insertMail(this.#store, session, this.#model, tenantId, mail);
  }
}

/** Named one by one: what else the record of a key may hold does not get near a letter. */
function factsOf(
  { id, name, prefix, scopes, expiresAt }: Key,
  owner: Recipient,
  { apiName, keysUrl }: EmailSettings,
): KeyFacts {
  return { id, name, prefix, scopes, expiresAt, ownerName: owner.name, apiName, keysUrl };
}
