// The types that follow from a declaration: those of its rows and of the inputs of its operations.

import type { Field, FieldShape, Presence } from "./field.ts";
import type { Resource } from "./resource.ts";

export type Fields = Readonly<Record<string, FieldShape>>;

/** The key of a field in a row: `author: belongsTo(...)` is `authorId`, `labels: manyToMany(...)` is `labelIds`. */
export type RowKey<Name, F> = F extends { kind: "belongsTo" }
  ? `${Name & string}Id`
  : F extends { kind: "manyToMany"; singular?: infer Declared }
    ? `${Declared extends string ? Declared : Singular<Name & string>}Ids`
    : Name & string;

/** As `singular` of `lib/case.ts`. */
type Singular<Name extends string> = Name extends `${infer Start}ies`
  ? `${Start}y`
  : Name extends `${infer Start}${"ss" | "x" | "z" | "ch" | "sh"}es`
    ? Name extends `${Start}${infer End}es`
      ? `${Start}${End}`
      : Name
    : Name extends `${infer Start}s`
      ? Start
      : Name;

type PresenceIn<F> = F extends Field<unknown, infer Declared> ? Declared : Presence;
export type ValueIn<F> = F extends Field<infer Value, Presence> ? Value : never;

/** The values of fields, as rows and the inputs of actions have them. */
export type ValuesOf<F extends Fields> = {
  [Name in keyof F as PresenceIn<F[Name]> extends "internal" | "counted"
    ? never
    : RowKey<Name, F[Name]>]: ValueIn<F[Name]>;
};
/** The id of the parent of a row: `{ postId: string }`. */
export type ParentOf<R> = R extends { readonly parent?: infer Parent }
  ? Parent extends { readonly name: infer Name extends string }
    ? { [Key in `${Name}Id`]: string }
    : unknown
  : unknown;

type Flatten<T> = { [Key in keyof T]: T[Key] };

/** A row of a resource as callers read it. `RecordOf<typeof posts>` */
export type RecordOf<R extends Resource> = Flatten<
  { id: string } & ParentOf<R> & ValuesOf<R["fields"]> & { createdAt: string; updatedAt: string }
>;

/**
 * A row as code of declarations gets it: with internal fields. They are not enumerable, so that JSON and copies of the row
 * leave them out.
 */
export type StoredRecordOf<R extends Resource> = Flatten<RecordOf<R> & InternalValuesOf<R["fields"]>>;

type InternalValuesOf<F extends Fields> = {
  [Name in keyof F as PresenceIn<F[Name]> extends "internal" ? RowKey<Name, F[Name]> : never]: ValueIn<
    F[Name]
  >;
};

type FieldsWithPresence<F extends Fields, P extends Presence> = {
  [Name in keyof F as PresenceIn<F[Name]> extends P ? RowKey<Name, F[Name]> : never]: WrittenIn<F[Name]>;
};
/** What an input has for a field: for a file its id. */
type WrittenIn<F> = F extends { kind: "file" }
  ? string | (null extends ValueIn<F> ? null : never)
  : ValueIn<F>;

export type RequiredFieldsOf<F extends Fields> = FieldsWithPresence<F, "required" | "defaulted">;
export type OptionalFieldsOf<F extends Fields> = FieldsWithPresence<F, "optional">;

/** The values that a caller sends for fields. Those that are optional or have a default may be left out. */
export type InputValuesOf<F extends Fields> = Flatten<
  FieldsWithPresence<F, "required"> & Partial<FieldsWithPresence<F, "defaulted" | "optional">>
>;

/** The input to create a row. */
export type InputOf<R extends Resource> = InputValuesOf<R["fields"]>;

/** The fields that only hooks set. */
export type ServerFieldsOf<R extends Resource> = Partial<
  FieldsWithPresence<R["fields"], "readOnly" | "internal">
>;

/** The input to update a row. */
export type ChangesOf<R extends Resource> = Partial<InputOf<R>>;
