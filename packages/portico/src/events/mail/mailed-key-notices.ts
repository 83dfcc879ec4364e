// Notices about keys as mails to their owners, written in the transaction of what they tell.

import type { Model } from "../../declare/model.ts";
import type { HookContext, Rows } from "../../declare/resource.ts";
import type { Session } from "../../store/database.ts";
import type { Store } from "../../store/store.ts";
import { created, type Deed, expiringSoon, type KeyFacts, revoked, rotated } from "./key-notices.ts";
import type { Letter } from "./letter.ts";
import { type FirstStatus, insertMail, mails } from "./mail.ts";

/** What is known of a key when its owner is written to. */
type Key = Omit<KeyFacts, "ownerName" | "apiName" | "keysUrl"> & { readonly ownerId: string | null };

interface Person {
  readonly name: string;
  readonly email: string;
}

/** Who is behind the ids of a write. */
export interface Directory {
  user(rows: Rows, id: string): Promise<Person | undefined>;
  key(rows: Rows, id: string): Promise<{ readonly name: string; readonly prefix: string } | undefined>;
}

/** What stands in all letters, and what becomes of them. */
export interface Letterhead extends Pick<KeyFacts, "apiName" | "keysUrl"> {
  readonly status: FirstStatus;
}

export class MailedKeyNotices {
  readonly #directory: Directory;
  readonly #letterhead: Letterhead;

  constructor(directory: Directory, letterhead: Letterhead) {
    this.#directory = directory;
    this.#letterhead = letterhead;
  }

  async created(key: Key, context: HookContext): Promise<void> {
    await this.#tell("created", key, context, (facts) => created(facts));
  }

  /** @param old with the `expiresAt` at which it now ends */
  async rotated(old: Key, replacement: Key, context: HookContext): Promise<void> {
    await this.#tell("rotated", old, context, (facts) => rotated({ ...facts, replacement }));
  }

  async revoked(key: Key, context: HookContext): Promise<void> {
    await this.#tell("revoked", key, context, (facts) => revoked(facts));
  }

  async #tell(
    event: string,
    key: Key,
    context: HookContext,
    write: (facts: KeyFacts & Deed) => Letter,
  ): Promise<void> {
    const owner = key.ownerId === null ? undefined : await this.#directory.user(context.rows, key.ownerId);
    if (!owner) return;
    const { status } = this.#letterhead;
    const facts = { ...factsOf(key, owner, this.#letterhead), ...(await this.#deed(context)) };
    const mail = { ...write(facts), to: owner.email, kind: `api_key.${event}`, status };
    await context.rows.create(mails, mail);
  }

  async #deed({ caller, now, rows }: HookContext): Promise<Deed> {
    const { address, credentialId, userId } = caller;
    if (address === undefined) return { by: "a command on the server", at: now, address };
    const key = await this.#directory.key(rows, credentialId);
    const user = userId === undefined ? undefined : await this.#directory.user(rows, userId);
    const credential = key ? `the API key ${key.name} (${key.prefix}…)` : credentialId;
    return { by: user ? `${credential} of ${user.name}` : credential, at: now, address };
  }
}

export class MailedExpiryNotices {
  readonly #store: Store;
  readonly #model: Model;
  readonly #letterhead: Letterhead;

  constructor(store: Store, model: Model, letterhead: Letterhead) {
    this.#store = store;
    this.#model = model;
    this.#letterhead = letterhead;
  }

  /** Writes to the owner in the transaction of `session`. */
  async expiringSoon(session: Session, tenantId: string, key: Key, owner: Person): Promise<void> {
    const { status } = this.#letterhead;
    const letter = expiringSoon(factsOf(key, owner, this.#letterhead));
    const mail = { ...letter, to: owner.email, kind: "api_key.expiring_soon", status };
    await insertMail(this.#store, session, this.#model, tenantId, mail);
  }
}

/** Named one by one: what else the record of a key may hold does not get near a letter. */
function factsOf(
  { id, name, prefix, scopes, expiresAt }: Key,
  owner: Person,
  { apiName, keysUrl }: Letterhead,
): KeyFacts {
  return { id, name, prefix, scopes, expiresAt, ownerName: owner.name, apiName, keysUrl };
}
