// Whoever tells the owner of a key what happens to it.

import type { HookContext } from "../declare/resource.ts";

/** What is told of a key. */
export interface ToldKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  readonly ownerId: string | null;
}

/** Each is called in the transaction of the change it tells of. */
export interface KeyNotices {
  created(key: ToldKey, context: HookContext): Promise<void>;
  rotated(old: ToldKey, replacement: ToldKey, context: HookContext): Promise<void>;
  revoked(key: ToldKey, context: HookContext): Promise<void>;
}
