// The description of an API: its name and its resources.

import { OperatorError } from "../errors.ts";
import { type ApiInfo, validateApiInfo } from "./api-info.ts";
import type { HandlersOf, LooseHandlers } from "./handlers.ts";
import { renameHint } from "./renamed-options.ts";
import type { Resource } from "./resource.ts";
import { type RoleDeclarations, validateRoles } from "./roles.ts";
import type { Route } from "./route.ts";
import type { Rows } from "./rows.ts";
import type { Schedules } from "./schedules.ts";
import { type SignUp, standardSignUp, validateSignUp } from "./sign-up.ts";
import { type AppVersions, validateAppVersions } from "./versions.ts";

/** Its type contains the resources and the routes, from which the types of the client are inferred. */
export interface App<
  Resources extends readonly Resource[] = readonly Resource[],
  Routes extends readonly Route[] = readonly Route[],
  Version extends string = string,
> extends ApiInfo {
  /** The name that pages and documents show. */
  readonly name: string;
  /** The version that unversioned paths serve. */
  readonly version: Version;
  /** The older versions that are served beside it. */
  readonly versions: AppVersions;
  readonly resources: Resources;
  /** Its operations that are none of a resource. */
  readonly routes: Routes;
  /** The roles of users; undefined for `owner` and `member`. */
  readonly roles: RoleDeclarations | undefined;
  /** How people become users; `invited` by default. */
  readonly signUp: SignUp;
  /** The role of people who create their own account. */
  readonly signUpRole: string | undefined;
  /** Creates sample rows in an empty sandbox. It runs once, on behalf of the first user. */
  readonly seed: ((rows: Rows) => Promise<void>) | undefined;
  /** What runs after writes were committed, by the events that it handles. */
  readonly on: LooseHandlers | undefined;
  /** What runs at certain times. */
  readonly schedules: Schedules;
  /** Whether assistants reach the API by MCP, at `/mcp`. */
  readonly mcp: boolean;
  /** Default values of settings, for those that the environment does not set: `{ PORT: "8080" }`. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Describes the API that `portico serve` runs. It is the default export of `portico.config.ts`. Resources, routes,
 * handlers and schedules are validated when the server starts.
 *
 * @throws OperatorError for an option that was renamed, and for invalid roles, sign-up, versions or contact data
 * @example
 * export default app({ name: "Blog", resources: [posts, comments] });
 */
export function app<
  const Resources extends readonly Resource[],
  const Routes extends readonly Route[] = readonly [],
  const Version extends string = "v1",
>(
  description: {
    readonly name: string;
    readonly version?: Version;
    readonly versions?: AppVersions;
    readonly resources: Resources;
    readonly routes?: Routes;
    readonly roles?: RoleDeclarations;
    readonly signUp?: SignUp;
    readonly signUpRole?: string;
    readonly seed?: (rows: Rows) => Promise<void>;
    readonly on?: HandlersOf<Resources>;
    readonly schedules?: Schedules;
    readonly mcp?: boolean;
    readonly settings?: Readonly<Record<string, string>>;
  } & ApiInfo,
): App<Resources, Routes, Version> {
  for (const option of Object.keys(description)) {
    const hint = renameHint("app", option);
    if (hint !== undefined) throw new OperatorError(`app: ${hint}`);
  }
  if (description.roles !== undefined) validateRoles(description.roles);
  validateSignUp(description, description.roles);
  validateAppVersions(description.version ?? "v1", description.versions ?? {});
  validateApiInfo(description);
  return Object.freeze({
    // The types of version and routes are those of the defaults where they are left out.
    version: "v1" as Version,
    versions: {},
    routes: [] as readonly Route[] as Routes,
    roles: undefined,
    signUpRole: undefined,
    seed: undefined,
    schedules: {},
    mcp: true,
    settings: {},
    ...description,
    signUp: description.signUp ?? standardSignUp,
    // The types of their events were checked at this call.
    on: description.on as LooseHandlers | undefined,
  });
}
