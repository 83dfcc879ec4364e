// The model: all declarations together, checked, with every name worked out, frozen at start. Everything
// after it (schemas, tables, statements, routes) derives from the model and never looks at a declaration.

import type { Caller } from "../declare/caller.ts";
import type { Deprecation, FieldShape } from "../declare/field.ts";
import type {
  LooseAction,
  LooseDeclaration,
  LooseHooks,
  OperationName,
  RowFilter,
} from "../declare/resource.ts";
import type { BodySchemas } from "./json-schema.ts";
import type { Operation } from "./operations.ts";

/** A field as rows have it: `author: belongsTo(...)` is the attribute `authorId` in the column `author_id`. */
export interface Attribute {
  readonly name: string;
  readonly column: string;
  readonly field: FieldShape;
  readonly isNullable: boolean;
  /** Callers may not give it: the server, a hook or the path does. */
  readonly isReadOnly: boolean;
  /** Callers may give it when the row is made, and not later. */
  readonly isImmutable: boolean;
  /** Given by the server itself: id, parent, states, createdAt and updatedAt. */
  readonly isServerManaged: boolean;
  /** What a state is worked out from; it has no column then. */
  readonly statusRules: readonly StatusRuleModel[] | undefined;
  /** Never part of an answer. */
  readonly isInternal: boolean;
  readonly unique: "in tenant" | "all tenants" | undefined;
  readonly deprecated: Deprecation | undefined;
  /** The resource it refers to, and the name under which that row can be selected: `author`. */
  readonly reference: { readonly name: string; readonly target: ResourceModel } | undefined;
}

/** A state, and the moment at which it begins: that of an attribute, less some seconds. */
export interface StatusRuleModel {
  readonly status: string;
  readonly from: Attribute;
  readonly secondsBefore: number;
}

/** What bodies are held against. */
export interface Shape {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  /** Those of the attributes that refer to other rows. */
  readonly references: readonly Attribute[];
  readonly attribute: ReadonlyMap<string, Attribute>;
}

export interface ResourceModel extends Shape {
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
  /** Names of what entity tags pass over. */
  readonly excludedFromETag: readonly string[];
  /** The attribute that holds the parent's id, for a resource that stands under another. */
  readonly parent: Attribute | undefined;
  /** Attribute name -> whether ranges are allowed beside equality. */
  readonly filters: ReadonlyMap<string, { readonly attribute: Attribute; readonly hasRange: boolean }>;
  readonly sorts: ReadonlyMap<string, Attribute>;
  readonly search: readonly Attribute[];
  readonly scopes: { readonly read: string; readonly write: string };
  readonly version: string;
  /** Whether protocols expose it; the others are read and written by the server only. */
  readonly isExposed: boolean;
  /** Whether its writes are recorded as events. */
  readonly recordsEvents: boolean;
  /** The operations that protocols offer. */
  readonly operations: ReadonlySet<OperationName>;
  readonly paging: "cursor" | "page";
  readonly policy: ((caller: Caller) => RowFilter | undefined) | undefined;
  /** Whether its rows are visible only where their parents are. */
  readonly inheritsPolicy: boolean;
  /** Whether any policy applies to its rows: its own, or an inherited one. */
  readonly isRestricted: boolean;
  readonly hooks: LooseHooks;
  readonly validate: LooseDeclaration["validate"];
  /** The attribute whose moment DELETE sets, where the row stays. */
  readonly markOnDelete: Attribute | undefined;
  /** Last part of the path -> what POST does there. */
  readonly actions: ReadonlyMap<string, ActionModel>;
  /** What its collection also stands under: rows that it refers to, or the tenant. */
  readonly nestedUnder: readonly (Attribute | "tenant")[];
  readonly deprecated: Deprecation | undefined;
  readonly schemas: BodySchemas;
}

/** The input of an action, described like a resource. */
export interface ActionModel extends Shape {
  readonly schemas: BodySchemas;
  /** Of its GraphQL mutation, where there is one. */
  readonly verb: string | undefined;
  readonly run: LooseAction["run"];
}

export interface Model {
  readonly name: string;
  readonly version: string;
  readonly resources: readonly ResourceModel[];
  readonly resource: ReadonlyMap<string, ResourceModel>;
  /** What callers can do with the exposed resources. */
  readonly operations: readonly Operation[];
  /** Every scope that a credential can hold. */
  readonly scopes: readonly string[];
  /** Whether callers are told what code of the declarations did wrong, as in the sandbox. */
  readonly explainsFailures: boolean;
}

/** The sort of a list that names none: newest first. */
export const defaultSort = "createdAt";
