// The model: all declarations, validated and frozen at start, with all derived names. Everything else (schemas, tables,
// statements, routes) derives from the model and never reads a declaration. These types refer to each other, so the file is
// longer than most.

import type { LooseAction } from "../declare/action.ts";
import type { FieldShape } from "../declare/field.ts";
import type { Deprecation } from "../declare/field-options.ts";
import type { LooseHooks } from "../declare/hooks.ts";
import type { LooseDeclaration, OperationName } from "../declare/resource.ts";
import type { LoosePolicy, LooseWhere } from "../declare/where.ts";
import type { BodySchemas } from "./json-schema.ts";
import type { OfferedTools } from "./offered-tools.ts";
import type { ModuleOperation, Operation } from "./operations.ts";
import type { ReadAccesses } from "./public.ts";
import type { Role } from "./roles.ts";
import type { RouteModel } from "./route.ts";

/** A field that is part of the row itself. */
export type AttributeShape = Exclude<FieldShape, { kind: "count" }>;

/** A field as rows have it: `author: belongsTo(...)` is the attribute `authorId` in the column `author_id`. */
export interface Attribute {
  readonly name: string;
  /** Its name in recorded events: the first one, if it was renamed. */
  readonly storedName: string;
  /** Derived from the stored name. */
  readonly column: string;
  readonly field: AttributeShape;
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
  /** Each value of a list, as an attribute of its own. */
  readonly element: Attribute | undefined;
  /** For the ids of a many-to-many field: the resource of the rows, and the name by which they can be selected: `labels`. */
  readonly links: { readonly name: string; readonly target: ResourceModel } | undefined;
  /** The resource that it refers to, and the name by which that row can be selected: `author`. */
  readonly reference: { readonly name: string; readonly target: ResourceModel } | undefined;
  /** For an attribute as an older version names it: the attribute of the current version. */
  readonly current?: Attribute;
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
  readonly columns: readonly {
    readonly attribute: Attribute;
    readonly isDescending: boolean;
    /** Whether it holds the rank of an ordered choice, to sort by, instead of the choice, to find rows by. */
    readonly isRanked?: boolean;
  }[];
  readonly unique: Attribute["unique"];
}

/** A field that counts the rows of a resource that refer to the row. */
export interface CountModel {
  readonly name: string;
  /** The name of the resource that has it, for messages. */
  readonly owner: string;
  /** The resource whose rows are counted. */
  readonly resource: ResourceModel;
  /** The attribute of the counted rows that refers to the row. */
  readonly reference: Attribute;
  /** The declared condition on the counted rows, which `query/count.ts` parses. */
  readonly where: LooseWhere;
  readonly description: string | undefined;
  readonly deprecated: Deprecation | undefined;
  /** For a count as an older version names it: the count of the current version. */
  readonly current?: CountModel;
}

/** A count that is stored in the row. */
export interface KeptCount extends CountModel {
  readonly attribute: Attribute;
}

/** The attributes that a body can have. */
export interface Shape {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  /** The counts that are computed for selections that include them. No body can have them. */
  readonly counts: ReadonlyMap<string, CountModel>;
  /** The attributes that refer to other rows. */
  readonly references: readonly Attribute[];
  /** The attributes that refer to several rows each. */
  readonly links: readonly Attribute[];
  /** The attributes whose values are files. */
  readonly files: readonly Attribute[];
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

/** A reference or a many-to-many field to another resource, and the resource that has it. */
export interface Dependent {
  readonly resource: ResourceModel;
  readonly attribute: Attribute;
}

export interface ResourceModel extends Shape {
  /** Whether it is one of the server itself, and not of the app. */
  readonly isOwn: boolean;
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
  /** The many-to-many fields whose rows refer to its rows. */
  readonly linkedFrom: readonly Dependent[];
  /** The counts that are stored in its rows. They are attributes as well. */
  readonly keptCounts: readonly KeptCount[];
  /** The references to it whose rows are deleted with the row that they refer to. */
  readonly dependents: readonly Dependent[];
  /** The references to it that become null when the row that they refer to is deleted. */
  readonly clearedReferences: readonly Dependent[];
  /** The filters by their paths: `status`, `author.role`. */
  readonly filters: ReadonlyMap<string, FilterModel>;
  readonly sorts: ReadonlyMap<string, Attribute>;
  readonly search: readonly Attribute[];
  readonly indexes: readonly IndexModel[];
  /** The lists whose elements are indexed, so that rows are found by them. */
  readonly elementIndexes: readonly Attribute[];
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
  /** Those of its operations that MCP offers as tools. */
  readonly tools: OfferedTools;
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
  /** Whether DELETE keeps the row, so that it can be restored. */
  readonly isSoftDeleted: boolean;
  /** After how many days deleted rows are deleted for good; undefined if never. */
  readonly purgeAfterDays: number | undefined;
  /**
   * Its rows that were deleted softly, as a resource with a table of its own: they were deleted by DELETE, or with another
   * row. Undefined if there can be none.
   */
  readonly deletedRows: ResourceModel | undefined;
  /** The resource that deleted rows belonged to; undefined for other resources. */
  readonly deletedOf: ResourceModel | undefined;
  /** The actions on rows by the last segment of their paths. */
  readonly actions: ReadonlyMap<string, ActionModel>;
  /** The actions on the collection by the last segment of their paths. */
  readonly collectionActions: ReadonlyMap<string, CollectionActionModel>;
  /** Where the collection is also nested: under referenced rows, or the tenant. */
  readonly nestedUnder: readonly (Attribute | "tenant")[];
  readonly deprecated: Deprecation | undefined;
  readonly deprecatedOperations: Readonly<Partial<Record<OperationName, Deprecation>>>;
  /** The members that only some responses have, and what they are. */
  readonly returnsOnce: Readonly<Record<string, string>>;
  readonly schemas: BodySchemas;
  /**
   * For a resource as an older version of the API names its fields: the resource of the current version, which the engine
   * reads and writes. Undefined for other resources.
   */
  readonly current?: ResourceModel;
}

/** Values of a request that are not stored, described like a resource. */
export interface RequestShape extends Shape {
  readonly schemas: BodySchemas;
}

/** An action, with its input. */
export interface ActionModel extends RequestShape {
  /** The verb of its GraphQL mutation, if it has one. */
  readonly verb: string | undefined;
  readonly deprecated: Deprecation | undefined;
  readonly run: LooseAction["run"];
  /** Whether it restores a deleted row. The engine does, and runs no code of the declaration. */
  readonly isRestoration?: true;
}

/** An action on a collection, with its input. */
export interface CollectionActionModel extends RequestShape {
  /** The verb of its GraphQL mutation, if it has one. */
  readonly verb: string | undefined;
  readonly deprecated: Deprecation | undefined;
  readonly answer: RequestShape;
  readonly run: LooseAction["run"];
}

/** An older version of the API, which is served beside the current one. */
export interface OlderVersion {
  /** `v1` */
  readonly name: string;
  readonly deprecated: Deprecation | undefined;
  /** The resources as the version names their fields, by their names. Those that it does not serve are not exposed. */
  readonly resource: ReadonlyMap<string, ResourceModel>;
  /** What callers can do in the version: with resources, and with what modules offer. */
  readonly operations: readonly (Operation | ModuleOperation)[];
}

export interface Model {
  readonly name: string;
  /** The current version. */
  readonly version: string;
  /** The newest first. */
  readonly olderVersions: readonly OlderVersion[];
  readonly resources: readonly ResourceModel[];
  readonly resource: ReadonlyMap<string, ResourceModel>;
  /** The routes that the app declares. */
  readonly routes: readonly RouteModel[];
  /** What callers can do: with the exposed resources in the current version, by routes, and with what modules offer. */
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
