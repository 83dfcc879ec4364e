// The code that a declaration runs around writes: hooks and validation.

import type { Caller } from "./caller.ts";
import type { StoredRecordOf } from "./record.ts";
import type { Resource } from "./resource.ts";
import type { Rows } from "./rows.ts";

export interface HookContext {
  readonly caller: Caller;
  /** The time of this write, which becomes `createdAt` or `updatedAt`. */
  readonly now: string;
  readonly rows: Rows;
  /** Adds members to the response of this write that are not stored, such as a new key, which is shown only once. */
  readonly returnOnce: (members: Readonly<Record<string, unknown>>) => void;
}

/** What code knows that creates a row of a child resource, or runs on a collection of such rows. */
export type ParentContext<Parent> = Parent extends Resource
  ? {
      readonly parentId: string;
      /** The parent, which is locked until the transaction ends. */
      readonly parent: StoredRecordOf<Parent>;
    }
  : unknown;

/** The second argument of `validate`. */
export interface ValidationContext {
  /** The input of `create` and `replace` is a whole row, that of `update` the changed fields. */
  readonly operation: "create" | "replace" | "update";
  readonly now: string;
  /** All scopes that a credential can have. */
  readonly scopes: readonly string[];
}

type Awaitable<T> = T | Promise<T>;

/**
 * Hooks that run before and after a write, in its transaction: a hook that throws rolls it back. A `before` hook can return
 * other values to write. PUT runs the `update` hooks. While a hook waits, SQLite's only writer waits, so a hook must await
 * nothing but `context.rows`.
 */
export interface Hooks<Row, Input, Changes, ServerFields = unknown, Parent = unknown> {
  readonly before?: {
    create?(
      input: Input,
      context: HookContext & ParentContext<Parent>,
    ): Awaitable<(Partial<Row> & ServerFields) | undefined>;
    update?(
      changes: Changes,
      context: HookContext & { readonly current: Row },
    ): Awaitable<(Partial<Row> & ServerFields) | undefined>;
    delete?(context: HookContext & { readonly current: Row }): Awaitable<void>;
  };
  readonly after?: {
    create?(row: Row, context: HookContext & ParentContext<Parent>): Awaitable<void>;
    update?(row: Row, context: HookContext & { readonly previous: Row }): Awaitable<void>;
    delete?(row: Row, context: HookContext): Awaitable<void>;
  };
}

export type LooseHooks = Hooks<Record<string, unknown>, Record<string, unknown>, Record<string, unknown>>;
