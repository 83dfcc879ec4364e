// What a project serves: its resources, and how it is called.

import { OperatorError } from "../errors.ts";
import { renameHint } from "./renamed-options.ts";
import type { Resource, Rows } from "./resource.ts";

export interface App {
  /** Shown to people, for example on pages and in documents. */
  readonly name: string;
  /** The version that unversioned paths stand for. */
  readonly version: string;
  readonly resources: readonly Resource[];
  /** Fills an empty sandbox with rows to look at; runs once, on behalf of the first user. */
  readonly seed: ((rows: Rows) => Promise<void>) | undefined;
  /** Defaults for settings that the environment does not give: `{ PORT: "8080" }`. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Describes the API that `portico serve` runs; the default export of `portico.config.ts`.
 *
 * @example
 * export default app({ name: "Blog", resources: [posts, comments] });
 */
export function app(description: {
  readonly name: string;
  readonly version?: string;
  readonly resources: readonly Resource[];
  readonly seed?: (rows: Rows) => Promise<void>;
  readonly settings?: Readonly<Record<string, string>>;
}): App {
  for (const option of Object.keys(description)) {
    const hint = renameHint("app", option);
    if (hint !== undefined) throw new OperatorError(`app: ${hint}`);
  }
  return Object.freeze({ version: "v1", seed: undefined, settings: {}, ...description });
}
