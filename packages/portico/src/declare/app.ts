// The description of an API: its name and its resources.

import { OperatorError } from "../errors.ts";
import { renameHint } from "./renamed-options.ts";
import type { Resource, Rows } from "./resource.ts";
import { type RoleDeclarations, validateRoles } from "./roles.ts";
import { type SignUp, standardSignUp, validateSignUp } from "./sign-up.ts";

export interface App {
  /** The name that pages and documents show. */
  readonly name: string;
  /** The version that unversioned paths serve. */
  readonly version: string;
  readonly resources: readonly Resource[];
  /** The roles of users; undefined for `owner` and `member`. */
  readonly roles: RoleDeclarations | undefined;
  /** How people become users; `invited` by default. */
  readonly signUp: SignUp;
  /** The role of people who create their own account. */
  readonly signUpRole: string | undefined;
  /** Creates sample rows in an empty sandbox. It runs once, on behalf of the first user. */
  readonly seed: ((rows: Rows) => Promise<void>) | undefined;
  /** Default values of settings, for those that the environment does not set: `{ PORT: "8080" }`. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Describes the API that `portico serve` runs; the default export of `portico.config.ts`.
 *
 * @example
 * export default app({ name: "Blog", resources: [posts, comments] });
 * @throws OperatorError for an option that was renamed, and for invalid roles or an invalid sign-up
 */
export function app(description: {
  readonly name: string;
  readonly version?: string;
  readonly resources: readonly Resource[];
  readonly roles?: RoleDeclarations;
  readonly signUp?: SignUp;
  readonly signUpRole?: string;
  readonly seed?: (rows: Rows) => Promise<void>;
  readonly settings?: Readonly<Record<string, string>>;
}): App {
  for (const option of Object.keys(description)) {
    const hint = renameHint("app", option);
    if (hint !== undefined) throw new OperatorError(`app: ${hint}`);
  }
  if (description.roles !== undefined) validateRoles(description.roles);
  validateSignUp(description, description.roles);
  return Object.freeze({
    version: "v1",
    roles: undefined,
    signUpRole: undefined,
    seed: undefined,
    settings: {},
    ...description,
    signUp: description.signUp ?? standardSignUp,
  });
}
