// What hooks of the server's own resources can use, besides the context of every hook.

import type { HookContext } from "../declare/hooks.ts";
import type { Model } from "../model/model.ts";
import type { QueryDefinition } from "../store/own-tables/query.ts";

export interface OwnHookContext extends HookContext {
  readonly model: Model;
  /** Runs a query in the transaction of the write. */
  query<Row, Input>(definition: QueryDefinition<Row, Input>, input: Input): Promise<Row[]>;
}

/** The whole context of a hook. The engine gives it to every hook; its public type has less. */
export function ownContext(context: HookContext): OwnHookContext {
  return context as OwnHookContext;
}
