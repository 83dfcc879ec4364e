// The routes of the authorization server for programs, as descriptions of the API have them. Its pages are not among them:
// `/authorize` is the `authorizationUrl` of the security scheme. It is one list with the schemas of each route, so the file
// is longer than most.

import type { DescribedResponse, DescribedRoute } from "../../api/described-route.ts";
import type { JsonSchema } from "../../model/json-schema.ts";
import { routes } from "../provider/routes.ts";
import { metadataPath } from "./resource-metadata.ts";

const text: JsonSchema = { type: "string" };
const seconds: JsonSchema = { type: "integer", minimum: 0 };
const tag = "OAuth";

/** RFC 6749, section 5.2 */
const oauthError: JsonSchema = {
  title: "OAuthError",
  type: "object",
  description: "An error of the authorization server.",
  properties: {
    error: { ...text, description: "What went wrong, for programs." },
    error_description: { ...text, description: "What went wrong, for people." },
  },
  required: ["error"],
};

function failure(description: string, headers: readonly string[] = []): DescribedResponse {
  return { description, content: { "application/json": oauthError }, headers };
}

function success(description: string, schema: JsonSchema): DescribedResponse {
  return { description, content: { "application/json": schema }, headers: ["Cache-Control"] };
}

const invalidRequest = failure("The request is invalid: `invalid_request`, or a more precise error.");
const invalidClient = failure("The client did not authenticate: `invalid_client`.", ["WWW-Authenticate"]);
const tooMany = failure("Too many requests from this address.", ["Retry-After"]);
const failed = failure("A fault of the server.");
const tooLarge = failure("The body is too large.");
const clientFailures = { 400: invalidRequest, 401: invalidClient, 413: tooLarge, 429: tooMany, 500: failed };

/** A body as OAuth sends it. @param example without the members that authenticate the client */
function form(
  title: string,
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  example: Readonly<Record<string, string>>,
): DescribedRoute["inputs"] {
  const members = { ...properties, ...clientParameters };
  const examples = [{ ...example, client_id: "YOUR_CLIENT_ID", client_secret: "YOUR_CLIENT_SECRET" }];
  const body = { title, type: "object", properties: members, required, examples };
  return { "application/x-www-form-urlencoded": body };
}

/** RFC 6749, section 2.3.1, and RFC 7523, section 2.2 */
const clientParameters: Readonly<Record<string, JsonSchema>> = {
  client_id: { ...text, description: "The client, unless it authenticates in the header." },
  client_secret: { ...text, description: "Its secret, for `client_secret_post`." },
  client_assertion_type: { ...text, description: "For `private_key_jwt`." },
  client_assertion: { ...text, description: "The signed JWT, for `private_key_jwt`." },
};

const authorization: Readonly<Record<string, JsonSchema>> = {
  response_type: { type: "string", enum: ["code"], description: "Always `code`." },
  client_id: { ...text, description: "The client." },
  redirect_uri: {
    ...text,
    description: "Where the response is sent. Required if the client has several redirect URIs.",
  },
  scope: { ...text, description: "The scopes, separated by spaces." },
  state: { ...text, description: "An opaque value that is returned with the response." },
  code_challenge: { ...text, description: "The challenge of PKCE (RFC 7636)." },
  code_challenge_method: { type: "string", enum: ["S256"], description: "Always `S256`." },
  nonce: { ...text, description: "A value that is included in the ID token." },
  prompt: { ...text, description: "`login`, `consent` or `none`." },
  max_age: { ...text, description: "The maximum number of seconds since the user signed in." },
  login_hint: { ...text, description: "The email address of the user." },
  resource: { ...text, description: "The API (RFC 8707)." },
  request_uri: { ...text, description: "What `/par` returned." },
};

const tokens: JsonSchema = {
  title: "Tokens",
  type: "object",
  properties: {
    access_token: text,
    token_type: { type: "string", enum: ["Bearer"] },
    expires_in: seconds,
    scope: text,
    refresh_token: { ...text, description: "With the scope `offline_access`." },
    id_token: { ...text, description: "With the scope `openid`." },
  },
  required: ["access_token", "token_type", "expires_in"],
};

const metadata: JsonSchema = {
  title: "AuthorizationServerMetadata",
  type: "object",
  properties: {
    issuer: { type: "string", format: "uri" },
    authorization_endpoint: { type: "string", format: "uri" },
    token_endpoint: { type: "string", format: "uri" },
    jwks_uri: { type: "string", format: "uri" },
    scopes_supported: { type: "array", items: text },
  },
  required: ["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"],
  // What else the two specifications name.
  additionalProperties: true,
};

const userInfo: JsonSchema = {
  title: "UserInfo",
  type: "object",
  properties: {
    sub: { ...text, description: "The id of the user." },
    name: { ...text, description: "With the scope `profile`." },
    email: { ...text, description: "With the scope `email`." },
    email_verified: { type: "boolean", description: "With the scope `email`." },
  },
  required: ["sub"],
};

const userInfoResponses = {
  200: success("The claims about the user.", userInfo),
  400: failure("The token is not in the header, or in two places.", ["WWW-Authenticate"]),
  401: failure("The access token is not valid.", ["WWW-Authenticate"]),
  403: failure("The access token lacks the scope `openid`.", ["WWW-Authenticate"]),
  500: failed,
};

const ofIssuer = { tag, isOfIssuer: true } as const;

export const oauthRoutes: readonly DescribedRoute[] = [
  {
    ...{ ...ofIssuer, id: "pushAuthorization", method: "POST", access: "client" },
    path: routes.pushed_authorization_request,
    summary: "Push an authorization request",
    description: "Stores the parameters of an authorization request (RFC 9126).",
    inputs: form("PushedAuthorizationRequest", authorization, [], {
      ...{ response_type: "code", redirect_uri: "https://example.com/callback", scope: "openid" },
      // The challenge of RFC 7636, appendix B.
      ...{ code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" },
    }),
    responses: {
      201: success("The request was stored.", {
        title: "PushedAuthorization",
        type: "object",
        properties: { request_uri: text, expires_in: seconds },
        required: ["request_uri", "expires_in"],
      }),
      ...clientFailures,
    },
  },
  {
    ...{ ...ofIssuer, id: "createToken", method: "POST", path: routes.token, access: "client" },
    summary: "Get tokens",
    description: "Exchanges a code, a refresh token or client credentials for tokens (RFC 6749).",
    inputs: form(
      "TokenRequest",
      {
        grant_type: {
          type: "string",
          enum: [
            ...["authorization_code", "refresh_token", "client_credentials"],
            "urn:ietf:params:oauth:grant-type:device_code",
          ],
        },
        code: { ...text, description: "For `authorization_code`." },
        redirect_uri: { ...text, description: "The same as in the authorization request." },
        code_verifier: { ...text, description: "The verifier of PKCE." },
        refresh_token: { ...text, description: "For `refresh_token`." },
        device_code: { ...text, description: "For devices." },
        scope: { ...text, description: "Fewer scopes than were granted, or those of the client." },
        resource: { ...text, description: "The API (RFC 8707)." },
      },
      ["grant_type"],
      { grant_type: "client_credentials" },
    ),
    responses: { 200: success("The tokens.", tokens), ...clientFailures },
  },
  {
    ...{ ...ofIssuer, id: "introspectToken", method: "POST", path: routes.introspection, access: "client" },
    summary: "Introspect a token",
    description: "Returns whether a token is valid, and its scopes and subject (RFC 7662).",
    inputs: form("IntrospectionRequest", { token: text, token_type_hint: text }, ["token"], {
      token: "TOKEN",
    }),
    responses: {
      200: success("What the token is.", {
        title: "Introspection",
        type: "object",
        properties: { active: { type: "boolean" }, scope: text, client_id: text, sub: text, exp: seconds },
        required: ["active"],
      }),
      ...clientFailures,
    },
  },
  {
    ...{ ...ofIssuer, id: "revokeToken", method: "POST", path: routes.revocation, access: "client" },
    summary: "Revoke a token",
    description: "Ends a token and the grant that it belongs to (RFC 7009).",
    inputs: form("RevocationRequest", { token: text, token_type_hint: text }, ["token"], {
      token: "TOKEN",
    }),
    responses: {
      200: {
        description: "The token is now invalid, whether or not it was valid before.",
        headers: ["Cache-Control"],
      },
      ...clientFailures,
    },
  },
  {
    ...{ ...ofIssuer, id: "authorizeDevice", method: "POST", access: "client" },
    path: routes.device_authorization,
    summary: "Request access for a device",
    description: "Returns the code that a user enters on another device (RFC 8628).",
    inputs: form("DeviceAuthorizationRequest", { scope: text, resource: text }, [], { scope: "openid" }),
    responses: {
      200: success("The codes.", {
        title: "DeviceAuthorization",
        type: "object",
        properties: {
          device_code: text,
          user_code: text,
          verification_uri: { type: "string", format: "uri" },
          verification_uri_complete: { type: "string", format: "uri" },
          expires_in: seconds,
          interval: seconds,
        },
        required: ["device_code", "user_code", "verification_uri", "expires_in"],
      }),
      ...clientFailures,
    },
  },
  {
    ...{ ...ofIssuer, id: "getUserInfo", method: "GET", path: routes.userinfo, access: "token" },
    summary: "Get the user of a token",
    description:
      "Returns claims about the user who granted an access token (OpenID Connect Core, section 5.3).",
    responses: userInfoResponses,
  },
  {
    ...{ ...ofIssuer, id: "postUserInfo", method: "POST", path: routes.userinfo, access: "token" },
    summary: "Get the user of a token, by POST",
    description: "The same by POST.",
    responses: userInfoResponses,
  },
  {
    ...{ ...ofIssuer, id: "getJwks", method: "GET", path: routes.jwks, access: "open" },
    summary: "Get the keys of the authorization server",
    description: "Returns the public keys that verify its tokens (RFC 7517).",
    responses: {
      200: {
        description: "The keys.",
        content: {
          "application/jwk-set+json": {
            title: "Jwks",
            type: "object",
            properties: { keys: { type: "array", items: { type: "object" } } },
            required: ["keys"],
          },
        },
      },
      400: invalidRequest,
      500: failed,
    },
  },
  ...[
    { id: "getOpenIdConfiguration", name: "openid-configuration", source: "OpenID Connect Discovery" },
    { id: "getAuthorizationServerMetadata", name: "oauth-authorization-server", source: "RFC 8414" },
  ].map(
    ({ id, name, source }): DescribedRoute => ({
      ...{ ...ofIssuer, id, method: "GET", path: `/.well-known/${name}`, access: "open" },
      summary: `Get the metadata of the authorization server (${source})`,
      description: `Returns what the authorization server offers, and where (${source}).`,
      responses: {
        200: { description: "The metadata.", content: { "application/json": metadata } },
        400: invalidRequest,
        500: failed,
      },
    }),
  ),
  {
    ...{ tag, id: "getProtectedResource", method: "GET", path: metadataPath, access: "open" },
    summary: "Get the metadata of the API as a protected resource",
    description: "Returns the authorization server that issues tokens for the API (RFC 9728).",
    responses: {
      200: {
        description: "The metadata.",
        content: {
          "application/json": {
            title: "ProtectedResourceMetadata",
            type: "object",
            properties: {
              resource: { type: "string", format: "uri" },
              authorization_servers: { type: "array", items: { type: "string", format: "uri" } },
              scopes_supported: { type: "array", items: text },
              bearer_methods_supported: { type: "array", items: text },
              resource_name: text,
            },
            required: ["resource", "authorization_servers"],
          },
        },
      },
      406: failure("The request does not accept JSON."),
      500: failed,
    },
  },
];
