// The parts of an OpenAPI description that Portico writes (OpenAPI Specification 3.1.1, section 4.8).

import type { ApiInfo } from "../declare/api-info.ts";
import type { JsonSchema } from "../model/json-schema.ts";

export interface Reference {
  readonly $ref: string;
}

export interface OpenApiDescription {
  readonly openapi: "3.1.1";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly contact: NonNullable<ApiInfo["contact"]>;
    readonly license?: NonNullable<ApiInfo["license"]>;
    readonly termsOfService?: string;
  };
  readonly servers: readonly ServerObject[];
  readonly tags: readonly TagObject[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly webhooks?: Readonly<Record<string, PathItem>>;
  readonly components: ComponentsObject;
}

export interface ServerObject {
  readonly url: string;
  readonly description?: string;
}

export interface TagObject {
  readonly name: string;
  readonly description: string;
}

/** The names of security schemes, with the scopes that are needed. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export type HttpMethod = "get" | "post" | "put" | "patch" | "delete";

export type PathItem = { readonly [Method in HttpMethod]?: OperationObject } & {
  readonly servers?: readonly ServerObject[];
};

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (ParameterObject | Reference)[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
  readonly security?: readonly SecurityRequirement[];
  readonly deprecated?: true;
  /** The date from which it may be gone. */
  readonly "x-sunset"?: string;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  readonly required?: true;
  readonly deprecated?: true;
  readonly schema: JsonSchema;
  readonly style?: "form";
  readonly explode?: boolean;
  readonly example?: unknown;
}

export interface RequestBody {
  readonly description?: string;
  readonly required?: true;
  readonly content: Content;
}

/** By media type. */
export type Content = Readonly<Record<string, MediaType>>;

export interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, ExampleObject | Reference>>;
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
}

export interface ExampleObject {
  readonly summary?: string;
  readonly value: unknown;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderObject | Reference>>;
  readonly content?: Content;
}

export interface HeaderObject {
  readonly description: string;
  readonly required?: true;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface ComponentsObject {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly parameters: Readonly<Record<string, ParameterObject>>;
  readonly examples: Readonly<Record<string, ExampleObject>>;
  readonly headers: Readonly<Record<string, HeaderObject>>;
  readonly securitySchemes: Readonly<Record<string, object>>;
}
