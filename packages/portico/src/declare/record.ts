// The types that follow from a declaration: those of its rows and of the inputs of its operations.

import type { Field, FieldShape, Presence } from "./field.ts";
import type { Resource } from "./resource.ts";

export type Fields = Readonly<Record<string, FieldShape>>;

/** The key of a field in a row: `author: belongsTo(...)` is `authorId`. */
export type RowKey<Name, F> = F extends { kind: "belongsTo" } ? `${Name & string}Id` : Name & string;

type PresenceIn<F> = F extends Field<unknown, infer Declared> ? Declared : Presence;
export type ValueIn<F> = F extends Field<infer Value, Presence> ? Value : never;

type Row<F extends Fields> = {
  [Name in keyof F as PresenceIn<F[Name]> extends "internal" ? never : RowKey<Name, F[Name]>]: ValueIn<
    F[Name]
  >;
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
  { id: string } & ParentOf<R> & Row<R["fields"]> & { createdAt: string; updatedAt: string }
>;

type FieldsWithPresence<F extends Fields, P extends Presence> = {
  [Name in keyof F as PresenceIn<F[Name]> extends P ? RowKey<Name, F[Name]> : never]: ValueIn<F[Name]>;
};

/** The input to create a row. Fields that are optional or have a default may be left out. */
export type InputOf<R extends Resource> = Flatten<
  FieldsWithPresence<R["fields"], "required"> &
    Partial<FieldsWithPresence<R["fields"], "defaulted" | "optional">>
>;

/** The fields that only hooks set. */
export type ServerFieldsOf<R extends Resource> = Partial<
  FieldsWithPresence<R["fields"], "readOnly" | "internal">
>;

/** The input to update a row. */
export type ChangesOf<R extends Resource> = Partial<InputOf<R>>;
