// The route of GraphQL, as descriptions of the API have it.

import type { DescribedRoute } from "../api/described-route.ts";
import { bodyErrors, commonErrors, repeatableErrors } from "../model/operation-errors.ts";
import { queryParameter } from "../model/operation-parameters.ts";

const text = { type: "string" };
const variables = { type: ["object", "null"], description: "The values of the variables of the document." };

const response = {
  title: "GraphqlResponse",
  type: "object",
  properties: {
    data: { type: ["object", "null"] },
    errors: { type: "array", items: { type: "object" } },
    extensions: { type: "object" },
  },
};

const responses: DescribedRoute["responses"] = {
  200: {
    description: "The result. An operation may have failed in part: see `errors`.",
    content: {
      "application/json": response,
      "application/graphql-response+json": response,
      "text/event-stream": {
        type: "string",
        description: "The results of a subscription, by the protocol of GraphQL over SSE.",
      },
    },
    headers: ["Cache-Control"],
  },
};

/** Errors that are found before a document is run have the shape of the API, and others that of GraphQL. */
const errorContent = { "application/json": response, "application/graphql-response+json": response };

export const graphqlRoutes: readonly DescribedRoute[] = [
  {
    id: "queryGraphql",
    method: "GET",
    path: "/graphql",
    tag: "GraphQL",
    summary: "Run a GraphQL query",
    description:
      "Runs a query, or a subscription as server-sent events. A browser gets GraphiQL, to write queries in.",
    access: "optional",
    parameters: [
      queryParameter("query", { ...text, examples: ["{ me { kind } }"] }, "The document."),
      queryParameter("operationName", text, "The operation of the document that is run."),
      queryParameter("variables", text, "The values of its variables as JSON."),
      queryParameter("extensions", text, "Extensions of the protocol as JSON."),
    ],
    responses: {
      ...responses,
      200: {
        ...responses[200]!,
        content: { ...responses[200]!.content, "text/html": { type: "string", description: "GraphiQL." } },
      },
    },
    errors: commonErrors,
    errorContent,
  },
  {
    id: "runGraphql",
    method: "POST",
    path: "/graphql",
    tag: "GraphQL",
    summary: "Run a GraphQL operation",
    description: "Runs a query, a mutation, or a subscription as server-sent events.",
    access: "optional",
    takesIdempotencyKey: true,
    inputs: {
      "application/json": {
        title: "GraphqlRequest",
        type: "object",
        properties: {
          query: { ...text, description: "The document." },
          operationName: {
            type: ["string", "null"],
            description: "The operation of the document that is run.",
          },
          variables,
          extensions: { type: ["object", "null"], description: "Extensions of the protocol." },
        },
        required: ["query"],
      },
    },
    responses: {
      ...responses,
      200: { ...responses[200]!, headers: ["Cache-Control", "Idempotent-Replayed"] },
    },
    errors: [...commonErrors, ...repeatableErrors, ...bodyErrors],
    errorContent,
  },
];
