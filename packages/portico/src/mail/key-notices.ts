// Whoever tells the owner of a key what happens to it.

import type { HookContext } from "../declare/resource.ts";
import type { Session } from "../store/database.ts";

/** What is told of a key. */
export interface NotifiedKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  readonly ownerId: string | null;
}

/** Each is called in the transaction of the change it tells of. A key without an owner is passed over. */
export interface KeyNotifications {
  created(key: NotifiedKey, context: HookContext): Promise<void>;
  /** @param old with the `expiresAt` at which it now ends */
  rotated(old: NotifiedKey, replacement: NotifiedKey, context: HookContext): Promise<void>;
  revoked(key: NotifiedKey, context: HookContext): Promise<void>;
}

/** Tells the owner that a key will soon expire, in the transaction of `session`. */
export interface ExpiryNotifications {
  expiringSoon(
    session: Session,
    tenantId: string,
    key: NotifiedKey,
    owner: { readonly name: string; readonly email: string },
  ): Promise<void>;
}
