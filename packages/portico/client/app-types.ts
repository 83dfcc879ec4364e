// The description of an API as types, inferred from the declarations of an app. These types refer to each other, so the file
// is longer than most.

import type { App } from "../src/declare/app.ts";
import type { FileValue, RefersTo } from "../src/declare/field.ts";
import type { Fields, InputOf, InputValuesOf, RecordOf, RowKey, ValueIn } from "../src/declare/record.ts";
import type { Resource, Traits } from "../src/declare/resource.ts";
import type { Route } from "../src/declare/route.ts";
import type { Api, ShownFile } from "./api.ts";
import type { OwnResources } from "./own-resources.ts";

/** The description of the API of an app: that of `typeof app`, or one that `portico types` printed. */
export type ApiOf<T> =
  T extends App<infer Resources, infer Routes, infer Version>
    ? {
        readonly version: Version;
        readonly resources: Omit<OwnResources, PluralOf<Resources[number]>> &
          ResourcesOf<Resources[number], Version>;
        readonly routes: RoutesOf<Routes[number]>;
      }
    : T extends Api
      ? T
      : never;

type ResourcesOf<R extends Resource, Version> = {
  readonly [Each in R as IsServed<Each, Version> extends true ? PluralOf<Each> : never]: DeclaredTypes<
    Each,
    ByName<R>
  >;
};

/** Whether the current version of the app has the resource. */
type IsServed<R, Version> =
  false extends Trait<R, "exposed">
    ? false
    : [Version] extends [Trait<R, "version">]
      ? true
      : [Trait<R, "version">] extends [never]
        ? true
        : false;

/** The resources of an app by their names, so that finding one does not depend on their number. */
type ByName<R extends Resource> = { readonly [Each in R as Each["name"]]: Each };

type RoutesOf<R extends Route> = {
  readonly [Each in R as Each extends Route<infer Path> ? Path : never]: Each extends Route<
    string,
    infer Types
  >
    ? Types
    : never;
};

/** The names of the server's own resources. */
type OwnPlurals = { readonly [Plural in keyof OwnResources as OwnResources[Plural]["name"]]: Plural };

/** By the one member: to compare all of a resource with `Resource` would compare each of its fields. */
type Trait<R, Name extends keyof Traits> = R extends { readonly "~traits"?: infer Found extends Traits }
  ? Found[Name]
  : never;

/** The plural of a resource. That of extended users, whose type keeps no traits, is known. */
type PluralOf<R extends Resource> = string extends R["name"]
  ? never
  : Trait<R, "plural"> extends infer Plural extends string
    ? [Plural] extends [never]
      ? PluralOfOwn<R["name"]>
      : Plural
    : PluralOfOwn<R["name"]>;

type PluralOfOwn<Name> = Name extends keyof OwnPlurals ? OwnPlurals[Name] : never;

/** The plural of the resource that a reference leads to. */
type PluralOfName<Name, All> = Name extends keyof All
  ? All[Name] extends infer Found extends Resource
    ? PluralOf<Found>
    : never
  : PluralOfOwn<Name>;

/** An interface, so that a member is inferred only where it is used. */
interface DeclaredTypes<R extends Resource, All> {
  readonly name: R["name"];
  readonly row: RowOf<R>;
  readonly selectable: CountsOf<R> & DeletionOf<R>;
  readonly references: ReferencesOf<R["fields"], All, "belongsTo"> & ParentReference<R, All>;
  readonly links: ReferencesOf<R["fields"], All, "manyToMany">;
  readonly create: WithFiles<InputOf<R>, R["fields"]>;
  readonly update: Partial<WithFiles<InputOf<R>, R["fields"]>>;
  readonly once: unknown;
  readonly filters: FiltersOf<R, All>;
  readonly sort: R["name"] extends "user" ? SortOfUsers<R> : Trait<R, "sort"> | "createdAt";
  readonly paging: R["name"] extends "user" ? "page" : Trait<R, "paging">;
  readonly search: R["name"] extends "user" ? true : [Trait<R, "search">] extends [never] ? false : true;
  readonly softDelete: Trait<R, "softDelete"> extends false ? false : true;
  readonly operations: R["name"] extends "user"
    ? OwnResources["users"]["operations"]
    : Trait<R, "operations">;
  readonly parent: ParentPlural<R, All>;
  readonly nestedUnder: ContainersOf<R, All>;
  readonly actions: ActionsOf<R, "row">;
  readonly collectionActions: ActionsOf<R, "collection">;
}

type RowOf<R extends Resource> = {
  readonly [Name in keyof RecordOf<R>]: ShownValue<RecordOf<R>[Name]>;
};
type ShownValue<Value> = unknown extends Value ? Value : Value extends FileValue ? ShownFile : Value;

/** Counts that are not kept in the row. */
type CountsOf<R extends Resource> = {
  readonly [Name in keyof R["fields"] as R["fields"][Name] extends { readonly kind: "count" }
    ? Exclude<Name, keyof RecordOf<R>>
    : never]: number;
};
type DeletionOf<R> = Trait<R, "softDelete"> extends false ? unknown : { readonly deletedAt: string };

type ReferencesOf<F extends Fields, All, Kind extends string> = {
  readonly [Name in keyof F as F[Name] extends { readonly kind: Kind }
    ? Name
    : never]: F[Name] extends RefersTo<infer Target> ? PluralOfName<Target, All> : never;
};

type ParentReference<R, All> = R extends { readonly parent?: infer Parent }
  ? Parent extends { readonly name: infer Name extends string }
    ? { readonly [Key in Name]: PluralOfName<Name, All> }
    : unknown
  : unknown;

type ParentPlural<R, All> = R extends { readonly parent?: infer Parent }
  ? Parent extends { readonly name: infer Name extends string }
    ? PluralOfName<Name, All>
    : never
  : never;

type ContainersOf<R extends Resource, All> = {
  [Name in Trait<R, "nestedUnder"> & string]: Name extends keyof R["fields"]
    ? R["fields"][Name] extends RefersTo<infer Target>
      ? PluralOfName<Target, All>
      : never
    : "tenants";
}[Trait<R, "nestedUnder"> & string];

type FileNames<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { readonly kind: "file" } ? Name : never;
}[keyof F];

/** An input that accepts a file in place of the id of an upload. */
type WithFiles<Input, F extends Fields> = {
  [Name in keyof Input]: Name extends FileNames<F> ? Input[Name] | Blob : Input[Name];
};

/** The filters of a resource, from the union of their declarations. */
type FiltersOf<R extends Resource, All> = R["name"] extends "user"
  ? OwnResources["users"]["filters"]
  : {
      readonly [Path in PathOf<Trait<R, "filter">>]?: FilterOf<
        ValueAt<R, All, Path>,
        OperatorsOf<Trait<R, "filter">, Path>
      >;
    };

type PathOf<Filter> = Filter extends string ? Filter : Filter[keyof Filter] & string;

type OperatorsOf<Filter, Path> =
  | (Path extends Filter ? "eq" : never)
  | ({ readonly range: Path } extends Filter ? "eq" | "range" : never)
  | ({ readonly contains: Path } extends Filter ? "contains" : never)
  | ({ readonly startsWith: Path } extends Filter ? "startsWith" : never);

/** The type of the values of a field, which may be one of a related row. */
type ValueAt<R extends Resource, All, Path> = Path extends keyof RecordOf<R>
  ? Element<RecordOf<R>[Path]>
  : Path extends `${infer First}.${infer Rest}`
    ? RelatedRow<R, All, First> extends infer Related extends Resource
      ? Rest extends keyof RecordOf<Related>
        ? Element<RecordOf<Related>[Rest]>
        : Scalar
      : Scalar
    : Scalar;

type Scalar = string | number | boolean;
type Element<Value> = Extract<Value extends readonly (infer Each)[] ? Each : Value, Scalar>;

/** The row that a reference, the parent or a many-to-many field leads to, or that refers to it by a collection. */
type RelatedRow<R extends Resource, All, First> = First extends keyof R["fields"]
  ? R["fields"][First] extends RefersTo<infer Target>
    ? Target extends keyof All
      ? All[Target]
      : never
    : never
  : First extends keyof All
    ? All[First]
    : {
        [Name in keyof All]: All[Name] extends infer Each extends Resource
          ? First extends PluralOf<Each>
            ? Each
            : never
          : never;
      }[keyof All];

/** What a filter accepts: a value, several, null, or operators. */
export type FilterOf<Value, Operators> =
  | ("eq" extends Operators ? Value | readonly Value[] | null : never)
  | (("eq" extends Operators
      ? {
          readonly in?: readonly Value[] | undefined;
          readonly ne?: Value | readonly Value[] | undefined;
          readonly isNull?: boolean | undefined;
        }
      : unknown) &
      ("range" extends Operators
        ? {
            readonly gte?: Value | undefined;
            readonly gt?: Value | undefined;
            readonly lte?: Value | undefined;
            readonly lt?: Value | undefined;
          }
        : unknown) &
      ("contains" extends Operators ? { readonly contains?: string | undefined } : unknown) &
      ("startsWith" extends Operators ? { readonly startsWith?: string | undefined } : unknown));

type SortOfUsers<R extends Resource> = keyof RecordOf<R> & string;

/** `key-rotations` -> `keyRotations` */
type CamelCase<Segment> = Segment extends `${infer Start}-${infer Rest}`
  ? `${Start}${Capitalize<CamelCase<Rest>>}`
  : Segment;

type ActionsOf<R extends Resource, Level> = {
  readonly [Segment in keyof Trait<R, "inputs"> as LevelOf<R, Segment> extends Level
    ? CamelCase<Segment>
    : never]: {
    readonly input: InputFor<Trait<R, "inputs">, Segment>;
    readonly output: Level extends "row" ? RowOf<R> : AnswerFor<Trait<R, "answers">, Segment>;
  };
} & (Level extends "row" ? RestorationsOf<R> : unknown);

type RestorationsOf<R extends Resource> =
  Trait<R, "softDelete"> extends false
    ? unknown
    : { readonly restorations: { readonly input: object; readonly output: RowOf<R> } };

type LevelOf<R, Segment> = Segment extends keyof Trait<R, "levels">
  ? Trait<R, "levels">[Segment] extends "collection"
    ? "collection"
    : "row"
  : "row";

type InputFor<Inputs, Segment extends keyof Inputs> = Inputs[Segment] extends Fields
  ? InputValuesOf<Inputs[Segment]>
  : object;

type AnswerFor<Answers, Segment> = Segment extends keyof Answers
  ? Answers[Segment] extends Fields
    ? ShownValues<Answers[Segment]>
    : { readonly count: number }
  : { readonly count: number };

/** The values of an answer: optional ones are null if the server leaves them out. */
type ShownValues<F extends Fields> = {
  readonly [Name in keyof F as RowKey<Name, F[Name]>]: F[Name] extends { readonly kind: string }
    ? ValueIn<F[Name]>
    : never;
};
