// The model: all declarations, validated and frozen at start, with all derived names. Everything else (schemas, tables,
// statements, routes) derives from the model and never reads a declaration.

import type { FieldShape } from "../declare/field.ts";
import type { Deprecation } from "../declare/field-options.ts";
import type { LooseAction, LooseDeclaration, LooseHooks, OperationName } from "../declare/resource.ts";
import type { LoosePolicy } from "../declare/where.ts";
import type { BodySchemas } from "./json-schema.ts";
import type { ModuleOperation, Operation } from "./operations.ts";
import type { ReadAccesses } from "./public.ts";
import type { Role } from "./roles.ts";

/** A field as rows have it: `author: belongsTo(...)` is the attribute `authorId` in the column `author_id`. */
export interface Attribute {
  readonly name: string;
  /** Its name in recorded events: the first one, if it was renamed. */
  readonly storedName: string;
  /** Derived from the stored name. */
  readonly column: string;
  readonly field: FieldShape;
  /** Whether a body can leave it out or set it to null. */
  readonly isOptional: boolean;
  /** Whether stored rows may have no value: it is optional, or `fill` has still to reach rows of earlier versions. */
  readonly isNullable: boolean;
  /** The value that rows without one get: a constant, or a function of the row; undefined if there is none. */
  readonly fill: unknown;
  /** Whether callers cannot set it: the server, a hook or the path does. */
  readonly isReadOnly: boolean;
  /** Whether callers can set it only when the row is created. */
  readonly isImmutable: boolean;
  /** Whether the server sets it: id, parent, computed statuses, createdAt and updatedAt. */
  readonly isServerManaged: boolean;
  /** The rules of a computed status, which has no column. */
  readonly statusRules: readonly StatusRuleModel[] | undefined;
  /** Whether it is never part of a response. */
  readonly isInternal: boolean;
  readonly unique: "in tenant" | "all tenants" | undefined;
  readonly deprecated: Deprecation | undefined;
  /** The resource that it refers to, and the name by which that row can be selected: `author`. */
  readonly reference: { readonly name: string; readonly target: ResourceModel } | undefined;
}

/** A status and the time at which it begins: some seconds before the timestamp of an attribute. */
export interface StatusRuleModel {
  readonly status: string;
  readonly from: Attribute;
  readonly secondsBefore: number;
}

/** An index. The store lets it begin with the tenant, unless it is unique across tenants. */
export interface IndexModel {
  /** Ends with the id, which makes the order total, unless it is unique. */
  readonly columns: readonly { readonly attribute: Attribute; readonly isDescending: boolean }[];
  readonly unique: Attribute["unique"];
}

/** The attributes that a body can have. */
export interface Shape {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  /** The attributes that refer to other rows. */
  readonly references: readonly Attribute[];
  readonly attribute: ReadonlyMap<string, Attribute>;
}

/** The rows of a resource that refer to a row. */
export interface Collection {
  readonly resource: ResourceModel;
  readonly reference: Attribute;
}

/** A comparison that callers may ask for. `eq` and `ne` take several values. */
export type FilterOperator = "eq" | "in" | "ne" | "isNull" | RangeOperator | "contains" | "startsWith";
export type RangeOperator = "gte" | "gt" | "lte" | "lt";

/** A field that callers may filter by. */
export interface FilterModel {
  /** Its path: `status`, or `author.role`. */
  readonly name: string;
  /** The rows that have the attribute; undefined for the row itself. */
  readonly related: RelatedRows | undefined;
  readonly attribute: Attribute;
  readonly operators: ReadonlySet<FilterOperator>;
  /** Whether ranges are among the operators. */
  readonly hasRange: boolean;
}

/** The row that a reference points to, or the rows that refer to the row. */
export interface RelatedRows extends Collection {
  readonly name: string;
  readonly kind: "is" | "some";
}

/** The writes that a policy can decide about. PUT and actions are updates. */
export type WriteOperation = "create" | "update" | "delete";
export type PolicyOperation = "read" | WriteOperation;

/** A function that decides which rows a caller may read or write. */
export interface PolicyRule {
  /** What it is called in messages: `policy`, or `policy for write`. */
  readonly label: string;
  readonly decide: LoosePolicy;
}

/** A reference with `onDelete: "cascade"`, and the resource that has it. */
export interface Dependent {
  readonly resource: ResourceModel;
  readonly attribute: Attribute;
}

export interface ResourceModel extends Shape {
  /** Its name in recorded events: the first one, if it was renamed. */
  readonly storedName: string;
  /** Its name in messages: `api key`. */
  readonly title: string;
  readonly plural: string;
  /** The last part of its collection's path: `api-keys`. */
  readonly segment: string;
  readonly table: string;
  readonly idPrefix: string;
  readonly description: string | undefined;
  /** In the order in which rows show them: id, parent, fields, createdAt, updatedAt. */
  readonly attributes: readonly Attribute[];
  /** Names of the attributes that do not affect the entity tag. */
  readonly excludedFromETag: readonly string[];
  /** The attribute with the id of the parent, for a resource with a parent. */
  readonly parent: Attribute | undefined;
  /** The resources whose rows are deleted with their parent, in the order of their deletion. */
  readonly children: readonly ResourceModel[];
  /** The rows that refer to its rows, by the name that conditions and protocols have for them: `comments`. */
  readonly collections: ReadonlyMap<string, Collection>;
  /** The references to it whose rows are deleted with the row that they refer to. */
  readonly dependents: readonly Dependent[];
  /** The filters by their paths: `status`, `author.role`. */
  readonly filters: ReadonlyMap<string, FilterModel>;
  readonly sorts: ReadonlyMap<string, Attribute>;
  readonly search: readonly Attribute[];
  readonly indexes: readonly IndexModel[];
  readonly scopes: { readonly read: string; readonly write: string };
  /** What reading its rows requires. */
  readonly access: ReadAccesses;
  readonly version: string;
  /** Whether protocols serve it. Only the server reads and writes the others. */
  readonly isExposed: boolean;
  /** Whether its writes are recorded as events. */
  readonly recordsEvents: boolean;
  /** Whether POST and PATCH need an Idempotency-Key. */
  readonly requiresIdempotencyKey: boolean;
  /** The operations that protocols offer. */
  readonly operations: ReadonlySet<OperationName>;
  readonly paging: "cursor" | "page";
  /** Its own policy, by operation; an operation without a rule is not restricted by its own policy. */
  readonly policy: Readonly<Partial<Record<PolicyOperation, PolicyRule>>>;
  /** Whether its rows are visible only where their parents are. */
  readonly inheritsPolicy: boolean;
  /** Whether any policy for reading applies to its rows: its own, or an inherited one. */
  readonly isRestricted: boolean;
  /** The operations that a policy can refuse for a row that the caller can read. */
  readonly refusable: ReadonlySet<WriteOperation>;
  readonly hooks: LooseHooks;
  /** The attributes that new rows must have, and that only a hook, or the code that creates the row, can set. */
  readonly setByCode: readonly Attribute[];
  /** Whether nothing but the row and its event is written when a row is created: there are no hooks that could. */
  readonly allowsSingleStatementCreate: boolean;
  readonly validate: LooseDeclaration["validate"];
  /** The advice in the message for a row that cannot be deleted because others refer to it. */
  readonly whenReferenced: string;
  /** The timestamp that DELETE sets instead of deleting the row. */
  readonly markOnDelete: Attribute | undefined;
  /** The actions by the last segment of their paths. */
  readonly actions: ReadonlyMap<string, ActionModel>;
  /** Where the collection is also nested: under referenced rows, or the tenant. */
  readonly nestedUnder: readonly (Attribute | "tenant")[];
  readonly deprecated: Deprecation | undefined;
  readonly schemas: BodySchemas;
}

/** The input of an action, described like a resource. */
export interface ActionModel extends Shape {
  readonly schemas: BodySchemas;
  /** The verb of its GraphQL mutation, if it has one. */
  readonly verb: string | undefined;
  readonly run: LooseAction["run"];
}

export interface Model {
  readonly name: string;
  readonly version: string;
  readonly resources: readonly ResourceModel[];
  readonly resource: ReadonlyMap<string, ResourceModel>;
  /** What callers can do with the exposed resources. */
  readonly operations: readonly (Operation | ModuleOperation)[];
  /** Every scope that a credential can hold. */
  readonly scopes: readonly string[];
  /** The roles of users. The first holds `*`, the last is that of users created without a role. */
  readonly roles: readonly Role[];
  /** The fields of users that they can change themselves, whatever their role. */
  readonly selfEditable: readonly string[];
  /** Whether anonymous callers can read any resource. */
  readonly hasPublicReads: boolean;
  /** Whether responses explain errors of code in the declarations, as in the sandbox. */
  readonly explainsFailures: boolean;
}

/** The default sort of a list, newest first. */
export const defaultSort = "createdAt";
