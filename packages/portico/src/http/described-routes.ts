// The routes of the server itself, as descriptions of the API have them.

import type { DescribedRoute } from "../api/described-route.ts";

const status = {
  title: "Health",
  type: "object",
  properties: { status: { type: "string", enum: ["ok"] } },
  required: ["status"],
};

export const serverRoutes: readonly DescribedRoute[] = [
  {
    id: "getLinks",
    method: "GET",
    path: "/",
    tag: "Server",
    summary: "Get the links of the API",
    description:
      "Returns where the API and its descriptions are: as a page for browsers, as JSON for programs.",
    access: "open",
    responses: {
      200: {
        description: "The links.",
        content: {
          "application/json": {
            title: "Links",
            type: "object",
            properties: {
              name: { type: "string" },
              links: { type: "object", additionalProperties: { type: "string", format: "uri" } },
            },
            required: ["name", "links"],
          },
          "text/html": { type: "string" },
        },
        headers: ["Link", "Vary"],
      },
    },
    errors: ["not_acceptable", "rate_limited", "internal_error"],
  },
  {
    id: "getHealth",
    method: "GET",
    path: "/healthz",
    tag: "Server",
    summary: "Check the process",
    description: "Checks that the process responds.",
    access: "open",
    responses: { 200: { description: "It does.", content: { "application/json": status } } },
    errors: ["not_acceptable", "internal_error"],
  },
  {
    id: "getReadiness",
    method: "GET",
    path: "/readyz",
    tag: "Server",
    summary: "Check the process and its database",
    description: "Checks that the process and its database respond.",
    access: "open",
    responses: { 200: { description: "They do.", content: { "application/json": status } } },
    errors: ["not_acceptable", "internal_error", "unavailable"],
  },
];
