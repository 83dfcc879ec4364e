// Emails to the owners of API keys. Each is written in the transaction of the change that causes it.

import type { HookContext } from "../declare/hooks.ts";
import type { Rows } from "../declare/rows.ts";
import type { Model } from "../model/model.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { type EmailSettings, emails, insertEmail } from "./message.ts";
import {
  type KeyChange,
  type KeyFacts,
  keyCreatedEmail,
  keyExpiringSoonEmail,
  keyRevokedEmail,
  keyRotatedEmail,
} from "./templates/key-emails.ts";
import type { Email } from "./templates/layout.ts";

/** A key, as far as emails describe it. */
export interface NotifiedKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  readonly ownerId: string | null;
}

interface Recipient {
  readonly name: string;
  readonly email: string;
}

/** Looks up the users and keys that the ids of a write refer to. */
export interface KeyDirectory {
  user(rows: Rows, id: string): Promise<Recipient | undefined>;
  key(rows: Rows, id: string): Promise<{ readonly name: string; readonly prefix: string } | undefined>;
}

/** What the hooks of API keys call. */
export type KeyNotifications = Pick<KeyEmails, "created" | "rotated" | "revoked">;

/** Reports changes to a key to its owner; keys without an owner are skipped. */
export class KeyEmails {
  readonly #directory: KeyDirectory;
  readonly #settings: EmailSettings;

  constructor(directory: KeyDirectory, settings: EmailSettings) {
    this.#directory = directory;
    this.#settings = settings;
  }

  async created(key: NotifiedKey, context: HookContext): Promise<void> {
    await this.#notify("created", key, context, (facts) => keyCreatedEmail(facts));
  }

  /** @param old with the `expiresAt` that the rotation set */
  async rotated(old: NotifiedKey, replacement: NotifiedKey, context: HookContext): Promise<void> {
    await this.#notify("rotated", old, context, (facts) => keyRotatedEmail({ ...facts, replacement }));
  }

  async revoked(key: NotifiedKey, context: HookContext): Promise<void> {
    await this.#notify("revoked", key, context, (facts) => keyRevokedEmail(facts));
  }

  async #notify(
    action: string,
    key: NotifiedKey,
    context: HookContext,
    render: (facts: KeyFacts & KeyChange) => Email,
  ): Promise<void> {
    const owner = key.ownerId === null ? undefined : await this.#directory.user(context.rows, key.ownerId);
    if (!owner) return;
    const { status } = this.#settings;
    const facts = { ...factsOf(key, owner, this.#settings), ...(await this.#keyChange(context)) };
    const email = { ...render(facts), to: owner.email, kind: `api_key.${action}`, status };
    await context.rows.create(emails, email);
  }

  async #keyChange({ caller, now, rows }: HookContext): Promise<KeyChange> {
    const { address, credentialId, userId } = caller;
    if (address === undefined) return { by: "a command on the server", at: now, address };
    const key = await this.#directory.key(rows, credentialId);
    const user = userId === null ? undefined : await this.#directory.user(rows, userId);
    const credential = key ? `the API key ${key.name} (${key.prefix}…)` : credentialId;
    return { by: user ? `${credential} of ${user.name}` : credential, at: now, address };
  }
}

/** Reports keys that are about to expire; `ExpiryNotifier` finds them. */
export class KeyExpiryEmails {
  readonly #store: Store;
  readonly #model: Model;
  readonly #settings: EmailSettings;

  constructor(store: Store, model: Model, settings: EmailSettings) {
    this.#store = store;
    this.#model = model;
    this.#settings = settings;
  }

  /** Writes to the owner of a key in the transaction of `session`. */
  async expiringSoon(session: Session, tenantId: string, key: NotifiedKey, owner: Recipient): Promise<void> {
    const { status } = this.#settings;
    const message = keyExpiringSoonEmail(factsOf(key, owner, this.#settings));
    const email = { ...message, to: owner.email, kind: "api_key.expiring_soon", status };
    await insertEmail(this.#store, session, this.#model, tenantId, email);
  }
}

/** Lists each member, so that no other field of a key's record, such as its hash, can reach an email. */
function factsOf(
  { id, name, prefix, scopes, expiresAt }: NotifiedKey,
  owner: Recipient,
  { apiName, keysUrl }: EmailSettings,
): KeyFacts {
  return { id, name, prefix, scopes, expiresAt, ownerName: owner.name, apiName, keysUrl };
}
