// A description of an API as types, from which the types of a client are made. `ApiOf` infers it from the declarations of an
// app, and `portico types` prints it for other repositories.

/** A resource of an API. */
export interface ResourceTypes {
  /** In the singular: `post`. */
  readonly name: string;
  /** A row as responses have it. */
  readonly row: object;
  /** Members that a row has only if `fields` selects them: counts. */
  readonly selectable: object;
  /** The resources of the rows that `fields` can lead to, by their plurals: `{ author: "users" }`. */
  readonly references: object;
  /** The same for many-to-many fields, which lead to several rows. */
  readonly links: object;
  readonly create: object;
  readonly update: object;
  /** Members that only the response to a create has, such as the text of an API key. */
  readonly once: unknown;
  /** The filters by name, each with the values it accepts. */
  readonly filters: object;
  /** The fields to sort by. */
  readonly sort: string;
  readonly paging: "cursor" | "page";
  /** Whether `q` searches. */
  readonly search: boolean;
  readonly softDelete: boolean;
  /** `"list" | "get" | "create" | "replace" | "update" | "delete"` */
  readonly operations: string;
  /** The plural of its parent. Its rows are listed and created only under a row of the parent. `never` without a parent. */
  readonly parent: string;
  /** The plurals of the resources under whose rows it can also be listed. */
  readonly nestedUnder: string;
  /** By segment, in camelCase. */
  readonly actions: object;
  readonly collectionActions: object;
}

export interface ActionTypes {
  readonly input: object;
  readonly output: unknown;
}

/** A route of the app. */
export interface CalledRoute {
  readonly parameters: object;
  readonly query: object;
  readonly input: object;
  readonly answer: unknown;
}

/** A description of an API, as `portico types` prints it. */
export interface Api {
  /** The version that a client calls. */
  readonly version: string;
  /** By plurals: `posts`. */
  readonly resources: object;
  /** By method and path: `GET /v1/stats`. */
  readonly routes: object;
}

/** A file of a row. */
export interface ShownFile {
  readonly id: string;
  readonly name: string;
  /** Its media type. */
  readonly type: string;
  /** In bytes. */
  readonly size: number;
  /** The address of its content, signed for some minutes. */
  readonly url: string;
}
