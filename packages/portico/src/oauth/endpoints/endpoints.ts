// The endpoints of the authorization server, and what Portico does at some of them instead of the library.

import type { Quota } from "../../declare/caller.ts";
import { choosePassword, confirmEmail, requestPasswordLink, showAccount } from "../account/email-links.ts";
import { showGrants } from "../account/grants.ts";
import { showPasskeys } from "../account/passkeys.ts";
import { showSessions } from "../account/sessions.ts";
import { handleInteraction } from "../interaction/interaction.ts";
import {
  type PageContext,
  type PageHandler,
  type PageRequest,
  redirectSeeOther,
  sendFile,
  sendPage,
} from "../interaction/page-request.ts";
import { logoPath } from "../pages/layout.ts";
import { passkeyScript, scriptPath } from "../pages/passkey-form.ts";
import { errorPage } from "../pages/plain-pages.ts";
import { tokenMarker } from "../provider/adapter.ts";
import { routes } from "../provider/configuration.ts";

export interface Endpoint {
  readonly path: string;
  readonly methods: readonly ("GET" | "POST" | "OPTIONS")[];
  /** For people: answers are HTML, errors too. */
  readonly isPage?: boolean;
  /** What is done to the parameters before the library reads them: false where they stay as they are. */
  readonly prepare?: (parameters: URLSearchParams) => boolean;
  /** What each address may do here: a request leaves a row behind, or is a guess. */
  readonly quota?: Quota;
  /** Forms that are sent here hold the codes of devices. */
  readonly limitsUserCodes?: boolean;
  /** Pages of ours; the library answers the rest. */
  readonly handle?: PageHandler;
}

const requestQuota: Quota = { limit: 300, windowSeconds: 60 };

export const endpoints: readonly Endpoint[] = [
  {
    path: routes.authorization,
    methods: ["GET"],
    isPage: true,
    prepare: prepareAuthorization,
    quota: requestQuota,
  },
  { path: routes.authorization, methods: ["POST"], isPage: true, quota: requestQuota, handle: redirectToGet },
  { path: `${routes.authorization}/:uid`, methods: ["GET"], isPage: true, quota: requestQuota },
  { path: "/interaction/:uid", methods: ["GET", "POST"], isPage: true, handle: handleInteraction },
  { path: "/interaction/:uid/password", methods: ["GET", "POST"], isPage: true, handle: requestPasswordLink },
  { path: "/password", methods: ["GET", "POST"], isPage: true, quota: requestQuota, handle: choosePassword },
  { path: "/email", methods: ["GET", "POST"], isPage: true, quota: requestQuota, handle: confirmEmail },
  { path: "/account", methods: ["GET", "POST"], isPage: true, handle: showAccount },
  { path: "/grants", methods: ["GET", "POST"], isPage: true, handle: showGrants },
  { path: "/sessions", methods: ["GET", "POST"], isPage: true, handle: showSessions },
  { path: "/passkeys", methods: ["GET", "POST"], isPage: true, handle: showPasskeys },
  { path: logoPath, methods: ["GET"], isPage: true, handle: sendLogo },
  { path: scriptPath, methods: ["GET"], isPage: true, handle: sendScript },
  { path: routes.end_session, methods: ["GET"], isPage: true, quota: requestQuota },
  { path: routes.end_session, methods: ["POST"], isPage: true, quota: requestQuota, handle: redirectToGet },
  { path: `${routes.end_session}/confirm`, methods: ["POST"], isPage: true, quota: requestQuota },
  { path: `${routes.end_session}/success`, methods: ["GET"], isPage: true },
  {
    path: routes.code_verification,
    methods: ["GET", "POST"],
    isPage: true,
    quota: requestQuota,
    limitsUserCodes: true,
  },
  { path: `${routes.code_verification}/:uid`, methods: ["GET"], isPage: true, quota: requestQuota },
  { path: routes.device_authorization, methods: ["POST", "OPTIONS"], quota: requestQuota },
  {
    path: routes.pushed_authorization_request,
    methods: ["POST", "OPTIONS"],
    prepare: prepareAuthorization,
    quota: requestQuota,
  },
  { path: routes.token, methods: ["POST", "OPTIONS"] },
  { path: routes.introspection, methods: ["POST", "OPTIONS"], prepare: markToken },
  { path: routes.revocation, methods: ["POST", "OPTIONS"], prepare: markToken },
  { path: routes.userinfo, methods: ["GET", "POST", "OPTIONS"] },
  { path: routes.jwks, methods: ["GET", "OPTIONS"] },
  { path: "/.well-known/openid-configuration", methods: ["GET", "OPTIONS"] },
  { path: "/.well-known/oauth-authorization-server", methods: ["GET", "OPTIONS"] },
];

/** The library knows opaque tokens only: a JSON Web Token is marked, and the adapter looks into it. */
function markToken(form: URLSearchParams): boolean {
  const [token, ...more] = form.getAll("token");
  if (!token?.startsWith("eyJ") || more.length > 0) return false;
  form.set("token", `${tokenMarker}${token}`);
  return true;
}

/** What people of `/authorize` would otherwise meet: a silent refusal, and a page that works with a script only. */
function prepareAuthorization(parameters: URLSearchParams): boolean {
  const isFormPost = parameters.get("response_mode") === "form_post";
  if (isFormPost) parameters.set("response_mode", "not_offered");
  // Without it, offline access is dropped without a word (OpenID Connect Core, section 11).
  const isOffline = parameters.get("scope")?.split(" ").includes("offline_access") ?? false;
  const prompts = (parameters.get("prompt") ?? "").split(" ").filter((each) => each !== "");
  const isConsentNotRequested = isOffline && !prompts.includes("consent") && !prompts.includes("none");
  if (isConsentNotRequested) parameters.set("prompt", [...prompts, "consent"].join(" "));
  return isFormPost || isConsentNotRequested;
}

/** Long enough for every request that could have been sent with GET. */
const maxQueryLength = 12 * 1024;

/**
 * What a form of an application sends (OpenID Connect Core, section 3.1.2.1; RP-Initiated Logout, section 2) is asked
 * for once more: a browser sends its cookies with that, and not with forms of other sites.
 */
async function redirectToGet({ issuer }: PageContext, pageRequest: PageRequest): Promise<void> {
  const { request, form } = pageRequest;
  const query = String(form ?? "");
  const isForm = /^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers["content-type"] ?? "");
  const refuse = (status: number, error_description: string): void =>
    sendPage(issuer, pageRequest, status, errorPage(issuer, { error: "invalid_request", error_description }));
  if (!isForm) return refuse(400, "Only forms can be sent here.");
  if (query.length > maxQueryLength) return refuse(413, "The request is too long.");
  redirectSeeOther(issuer, pageRequest, `${request.url?.split("?", 1)[0]}?${query}`);
}

async function sendScript(_parts: PageContext, pageRequest: PageRequest): Promise<void> {
  sendFile(pageRequest, "text/javascript; charset=utf-8", passkeyScript);
}

async function sendLogo({ issuer }: PageContext, pageRequest: PageRequest): Promise<void> {
  const { logo } = issuer.brand;
  if (logo) return sendFile(pageRequest, logo.type, logo.bytes);
  const missing = { error: "not_found", error_description: "There is no logo." };
  sendPage(issuer, pageRequest, 404, errorPage(issuer, missing));
}
