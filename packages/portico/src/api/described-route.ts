// Routes that are not operations of the model, such as those of GraphQL and OAuth, as data for descriptions of the API.

import type { ErrorCode } from "../errors.ts";
import type { JsonSchema } from "../model/json-schema.ts";
import type { Parameter } from "../model/operation-parameters.ts";

export interface DescribedRoute {
  /** Unique among all operations and routes: `getToken` */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** `/graphql`; below AUTH_URL for routes of the authorization server */
  readonly path: string;
  readonly isOfIssuer?: true;
  /** The heading under which it is described: `OAuth` */
  readonly tag: string;
  /** What it does, in a line without a full stop. */
  readonly summary: string;
  readonly description: string;
  /**
   * What it requires: a credential of the API; a credential only where something is not public; an access token; the
   * authentication of an OAuth client; or nothing.
   */
  readonly access: "credential" | "optional" | "token" | "client" | "open";
  readonly parameters?: readonly Parameter[];
  /** The schemas of the request body by media type. */
  readonly inputs?: Readonly<Record<string, JsonSchema>>;
  /** Whether it runs once for each Idempotency-Key. */
  readonly takesIdempotencyKey?: true;
  /** By status. */
  readonly responses: Readonly<Record<number, DescribedResponse>>;
  /** The errors in the shape of the API. */
  readonly errors?: readonly ErrorCode[];
  /** Schemas that errors may have instead of that shape, by media type. */
  readonly errorContent?: Readonly<Record<string, JsonSchema>>;
}

export interface DescribedResponse {
  readonly description: string;
  /** The schemas of the body by media type. */
  readonly content?: Readonly<Record<string, JsonSchema>>;
  /** The headers that only this response has. */
  readonly headers?: readonly string[];
}
