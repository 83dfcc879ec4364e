// The public API of Portico: what a project needs to declare and serve its resources.

export { users } from "./auth/users/resource.ts";
export { type App, app } from "./declare/app.ts";
export type { Caller } from "./declare/caller.ts";
export {
  belongsTo,
  boolean,
  choice,
  computedStatus,
  type Deprecation,
  id,
  integer,
  json,
  list,
  number,
  type StatusRule,
  text,
  timestamp,
} from "./declare/field.ts";
export type { ChangesOf, InputOf, RecordOf } from "./declare/record.ts";
export {
  type Action,
  type Declaration,
  type HookContext,
  type Hooks,
  type Resource,
  type RowFilter,
  type Rows,
  range,
  resource,
  type ValidationContext,
} from "./declare/resource.ts";
export { type Detail, type ErrorCode, type FieldError, Problem } from "./errors.ts";
