// What the operations of a resource require of a caller: a scope, unless they are public.

import { type LooseDeclaration, type PublicOperation, publicOperationNames } from "../declare/resource.ts";

/** What a read requires. */
export interface ReadAccess {
  readonly scope: string;
  /** Whether anonymous callers, who have no scopes, can read it too. */
  readonly isPublic: boolean;
}

/** What each operation that reads rows requires. Nested rows require the same: `get` for a row, `list` for several. */
export type ReadAccesses = Readonly<Record<PublicOperation, ReadAccess>>;

export function readAccesses(
  scope: string,
  { public: operations = [] }: Pick<LooseDeclaration, "public">,
): ReadAccesses {
  const accessTo = (operation: PublicOperation): ReadAccess =>
    Object.freeze({ scope, isPublic: operations.includes(operation) });
  return Object.freeze({ list: accessTo("list"), get: accessTo("get") });
}

export function validatePublicOptions(
  { public: published, operations, exposed }: LooseDeclaration,
  refuse: (remedy: string) => never,
): void {
  if (published === undefined) return;
  const isList =
    Array.isArray(published) &&
    published.every((each) => (publicOperationNames as readonly unknown[]).includes(each));
  if (!isList)
    refuse(
      'public is a list of some of list, get; other operations need a secret credential: public: ["list", "get"]',
    );
  if (published.length > 0 && exposed === false) refuse("it is not exposed, so nothing of it can be public");
  const missing = operations && published.find((each) => !operations.includes(each));
  if (missing !== undefined) refuse(`its operations lack ${missing}, so that cannot be public; add it there`);
}
