// What the plan of a migration is made from.

import type { Session } from "../database.ts";
import type { Store } from "../store.ts";
import type { Drops } from "./drop.ts";
import type { TableDialect } from "./tables.ts";

export interface Planning {
  readonly store: Store;
  readonly session: Session;
  readonly tables: TableDialect;
  /** Whether the plan tells a server whether it can start. Additions of a newer version are ignored then. */
  readonly isServing: boolean;
  /** Whether the plan includes what an earlier version could not continue with. */
  readonly isContraction: boolean;
  readonly drops: Drops;
  /** Columns without a field that stay although a field of their type is added: `posts.title`. */
  readonly kept: ReadonlySet<string>;
}
