// Sends GraphQL requests to a server.

import assert from "node:assert/strict";
import type { TestServer } from "../scenario.ts";
import type { Answer, RequestOptions } from "../server.ts";

export interface GraphqlRequestOptions extends Pick<RequestOptions, "key" | "headers"> {
  readonly variables?: object;
  readonly extensions?: object;
}

export function requestGraphql(
  server: Pick<TestServer, "request">,
  query: string,
  { variables, extensions, ...options }: GraphqlRequestOptions = {},
): Promise<Answer> {
  return server.request("/graphql", { body: { query, variables, extensions }, ...options });
}

/** Sends a request that must succeed. @returns its data */
export async function dataOf(
  server: Pick<TestServer, "request">,
  query: string,
  options?: GraphqlRequestOptions,
): Promise<Answer["body"]> {
  const answer = await requestGraphql(server, query, options);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.errors, undefined, answer.text);
  return answer.body.data;
}

export interface ExpectedError {
  readonly code: string;
  readonly message?: RegExp;
  readonly path?: readonly string[];
  readonly details?: readonly object[];
}

/** Asserts the first error of a response. */
export function expectError({ body, text }: Answer, { code, message, path, details }: ExpectedError): void {
  const [error] = body.errors;
  assert.equal(error.extensions.code, code, text);
  assert.ok(Array.isArray(error.extensions.details), text);
  if (message) assert.match(error.message, message);
  if (path) assert.deepEqual(error.path, path, text);
  if (details) assert.deepEqual(error.extensions.details, details, text);
}
