// Routes that are not operations of the model as a description has them.

import type { DescribedRoute } from "../api/described-route.ts";
import type { OAuthUrls } from "../auth/tokens/oauth-urls.ts";
import type { JsonSchema } from "../model/json-schema.ts";
import type { Components } from "./components.ts";
import type {
  Content,
  OperationObject,
  ResponseObject,
  SecurityRequirement,
  ServerObject,
} from "./description.ts";
import { errorResponses } from "./errors.ts";
import { exampleOf } from "./examples.ts";
import { headerReferences, quotaHeaders } from "./headers.ts";
import { idempotencyKey, parameterOf } from "./parameters.ts";
import { described } from "./schemas.ts";
import { securityOf } from "./security.ts";

export function describeRoute(route: DescribedRoute, components: Components): OperationObject {
  const {
    id,
    tag,
    summary,
    description,
    parameters = [],
    inputs,
    responses,
    errors = [],
    errorContent,
  } = route;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    parameters: [
      ...parameters.map((each) => parameterOf(each, components, exampleOf(each.schema, each.name))),
      ...(route.takesIdempotencyKey ? [idempotencyKey(false, components)] : []),
    ],
    ...(inputs && { requestBody: { required: true as const, content: contentOf(inputs, components) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [
          status,
          responseOf(route, response, components),
        ]),
      ),
      ...errorResponses(errors, components, {
        ...(errorContent && {
          headers: quotaHeaders,
          others: { of: tag, content: contentOf(errorContent, components) },
        }),
      }),
    },
    security: security[route.access],
  };
}

const anyCredential = securityOf({ scope: undefined });

const security: Readonly<Record<DescribedRoute["access"], readonly SecurityRequirement[]>> = {
  credential: anyCredential,
  optional: [{}, ...anyCredential],
  token: [{ oauth2: ["openid"] }, { openIdConnect: [] }],
  client: [{ client: [] }, {}],
  open: [],
};

function responseOf(
  { access }: DescribedRoute,
  { description, content, headers = [] }: DescribedRoute["responses"][number],
  components: Components,
): ResponseObject {
  const hasQuota = access === "credential" || access === "optional";
  const names = [...(hasQuota ? quotaHeaders : ["X-Request-Id"]), ...headers];
  return {
    description,
    headers: headerReferences(names, components),
    ...(content && { content: contentOf(content, components) }),
  };
}

function contentOf(schemas: Readonly<Record<string, JsonSchema>>, components: Components): Content {
  return Object.fromEntries(
    Object.entries(schemas).map(([type, schema]) => {
      const isJson = /json$/.test(type) && schema.type === "object";
      const example = isJson ? exampleOf(schema) : undefined;
      return [type, { schema: described(schema, components), ...(example !== undefined && { example }) }];
    }),
  );
}

/** Where a route is: its path below PUBLIC_URL, or its path and the server that it is relative to. */
export function locationOf(
  { path, isOfIssuer }: Pick<DescribedRoute, "path" | "isOfIssuer">,
  { issuer, resource }: OAuthUrls,
): { readonly path: string; readonly server?: ServerObject } {
  if (!isOfIssuer) return { path };
  if (`${issuer}/`.startsWith(`${resource}/`)) return { path: `${issuer.slice(resource.length)}${path}` };
  return { path, server: { url: issuer, description: "The authorization server." } };
}
