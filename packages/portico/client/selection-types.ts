// The types of rows with the fields that a query selects.

import type { Api, ResourceTypes } from "./api.ts";

type Resources<A extends Api> = A["resources"];
export type Names<A extends Api> = keyof Resources<A> & string;
/** Every member of `resources` describes a resource. */
export type Described<A extends Api, Plural> = Plural extends keyof Resources<A>
  ? Resources<A>[Plural] extends infer R extends ResourceTypes
    ? R
    : never
  : never;

/** One object instead of an intersection, so that editors show its members. */
type Flatten<T> = { [Key in keyof T]: T[Key] };

/** A name in `fields`, or a path that leads to a field of another row: `author.name`. */
export type FieldPath<A extends Api, R extends ResourceTypes> =
  | OwnField<R>
  | RelatedField<A, R["references"]>
  | RelatedField<A, R["links"]>;

type OwnField<R extends ResourceTypes> = (keyof R["row"] | keyof R["selectable"]) & string;

/** Paths with two dots are checked by the server. */
type RelatedField<A extends Api, References> = {
  [Name in keyof References & string]:
    | `${Name}.${OwnField<Described<A, References[Name]>>}`
    | `${Name}.${(keyof Described<A, References[Name]>["references"] | keyof Described<A, References[Name]>["links"]) & string}.${string}`;
}[keyof References & string];

/** A row with the selected fields; without `fields`, with all of its own. */
export type Selected<A extends Api, R extends ResourceTypes, Path extends string> = [Path] extends [never]
  ? R["row"]
  : string extends Path
    ? Partial<R["row"]>
    : Flatten<
        { readonly id: string } & {
          readonly [Name in Path as Name extends OwnField<R> ? Name : never]: Name extends keyof R["row"]
            ? R["row"][Name]
            : Name extends keyof R["selectable"]
              ? R["selectable"][Name]
              : never;
        } & {
          readonly [Name in Head<Path> & keyof R["references"]]: Selected<
            A,
            Described<A, R["references"][Name]>,
            Rest<Path, Name>
          > | null;
        } & {
          readonly [Name in Head<Path> & keyof R["links"]]: readonly Selected<
            A,
            Described<A, R["links"][Name]>,
            Rest<Path, Name>
          >[];
        }
      >;

type Head<Path> = Path extends `${infer First}.${string}` ? First : never;
type Rest<Path, Name> = Name extends string ? (Path extends `${Name}.${infer Inner}` ? Inner : never) : never;

export interface FieldsOption<Path extends string> {
  readonly fields?: readonly Path[] | undefined;
}
