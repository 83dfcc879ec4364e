// The types that follow from a declaration: what a row looks like, what a caller gives to make or change one.

import type { Field, FieldShape, Presence } from "./field.ts";
import type { Resource } from "./resource.ts";

export type Fields = Readonly<Record<string, FieldShape>>;

/** `author: belongsTo(...)` is called `authorId` in a row. */
export type RowKey<Name, F> = F extends { kind: "belongsTo" } ? `${Name & string}Id` : Name & string;

type PresenceIn<F> = F extends Field<unknown, infer Given> ? Given : Presence;
export type ValueIn<F> = F extends Field<infer Value, Presence> ? Value : never;

type Row<F extends Fields> = {
  [Name in keyof F as PresenceIn<F[Name]> extends "internal" ? never : RowKey<Name, F[Name]>]: ValueIn<
    F[Name]
  >;
};
/** The id of the row that a row stands under: `{ postId: string }`. */
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

/** What a caller gives to create a row: fields with a default, or optional ones, may be left out. */
export type InputOf<R extends Resource> = Flatten<
  FieldsWithPresence<R["fields"], "required"> &
    Partial<FieldsWithPresence<R["fields"], "defaulted" | "optional">>
>;

/** What hooks give, and callers only read. */
export type ServerFieldsOf<R extends Resource> = Partial<
  FieldsWithPresence<R["fields"], "readOnly" | "internal">
>;

/** What a caller gives to change a row. */
export type ChangesOf<R extends Resource> = Partial<InputOf<R>>;
