// The route of the description, as the description has it.

import type { DescribedRoute } from "../api/described-route.ts";
import { openApiPath } from "../api/paths.ts";

export const openApiRoute: DescribedRoute = {
  id: "getOpenApi",
  method: "GET",
  path: openApiPath,
  tag: "Server",
  summary: "Get this description",
  description: "Returns the description of the API by the OpenAPI Specification 3.1.",
  access: "open",
  responses: {
    200: {
      description: "The description.",
      content: { "application/json": { type: "object", description: "An OpenAPI description." } },
      headers: ["Cache-Control", "ETag", "Vary"],
    },
    304: {
      description: "Not modified: it has one of the tags of `If-None-Match`.",
      headers: ["Cache-Control", "ETag", "Vary"],
    },
  },
  errors: ["not_acceptable", "rate_limited", "internal_error"],
};
