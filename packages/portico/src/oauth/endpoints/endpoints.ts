// The endpoints of the authorization server: those of oidc-provider, and Portico's own pages.

import type { OAuthClientLookup } from "../../auth/clients/lookup.ts";
import type { Quota } from "../../declare/caller.ts";
import { confirmEmail } from "../account/email-address.ts";
import { showGrants } from "../account/grants.ts";
import { showMembers } from "../account/members.ts";
import { showInvitation, showSignUp } from "../account/new-account.ts";
import { showAccount } from "../account/own-data.ts";
import { showPasskeys } from "../account/passkeys.ts";
import { choosePassword, requestPasswordLink } from "../account/password-reset.ts";
import { showSessions } from "../account/sessions.ts";
import { handleInteraction } from "../interaction/interaction.ts";
import {
  type PageContext,
  type PageHandler,
  type PageRequest,
  sendFile,
  sendPage,
} from "../interaction/page-request.ts";
import { logoPath } from "../pages/layout.ts";
import { passkeyScript, scriptPath } from "../pages/passkey-form.ts";
import { errorPage } from "../pages/plain-pages.ts";
import { markJwt } from "../provider/patches/jwt-access-tokens.ts";
import { promptForOfflineAccess } from "../provider/patches/offline-access.ts";
import { redirectToGet } from "../provider/patches/post-requests.ts";
import { refuseFormPost } from "../provider/patches/response-modes.ts";
import { routes } from "../provider/routes.ts";
import type { Issuer } from "./issuer.ts";
import { nameApi } from "./resource-indicators.ts";

/** What the functions that change parameters know besides them. */
export interface PrepareContext {
  readonly issuer: Issuer;
  readonly clients: Pick<OAuthClientLookup, "find">;
}

export interface Endpoint {
  readonly path: string;
  readonly methods: readonly ("GET" | "POST" | "OPTIONS")[];
  /** Whether responses are HTML, including errors. */
  readonly isPage?: boolean;
  /** Changes the parameters before oidc-provider reads them. Returns false if nothing changed. */
  readonly prepare?: (parameters: URLSearchParams, context: PrepareContext) => boolean | Promise<boolean>;
  /** Limit for each network address, where a request stores a record or can be used to guess a secret. */
  readonly quota?: Quota;
  /** Whether submitted forms hold user codes of the device flow, which have a limit of their own. */
  readonly limitsUserCodes?: boolean;
  /** Handles the request; undefined for endpoints of oidc-provider. */
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
  { path: "/sign-up", methods: ["GET", "POST"], isPage: true, quota: requestQuota, handle: showSignUp },
  {
    path: "/invitation",
    methods: ["GET", "POST"],
    isPage: true,
    quota: requestQuota,
    handle: showInvitation,
  },
  { path: "/account", methods: ["GET", "POST"], isPage: true, handle: showAccount },
  { path: "/grants", methods: ["GET", "POST"], isPage: true, handle: showGrants },
  { path: "/sessions", methods: ["GET", "POST"], isPage: true, handle: showSessions },
  { path: "/members", methods: ["GET", "POST"], isPage: true, quota: requestQuota, handle: showMembers },
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
  {
    path: routes.device_authorization,
    methods: ["POST", "OPTIONS"],
    prepare: nameApi,
    quota: requestQuota,
  },
  {
    path: routes.pushed_authorization_request,
    methods: ["POST", "OPTIONS"],
    prepare: prepareAuthorization,
    quota: requestQuota,
  },
  { path: routes.token, methods: ["POST", "OPTIONS"], prepare: nameApi },
  { path: routes.introspection, methods: ["POST", "OPTIONS"], prepare: markJwt },
  { path: routes.revocation, methods: ["POST", "OPTIONS"], prepare: markJwt },
  { path: routes.userinfo, methods: ["GET", "POST", "OPTIONS"] },
  { path: routes.jwks, methods: ["GET", "OPTIONS"] },
  { path: "/.well-known/openid-configuration", methods: ["GET", "OPTIONS"] },
  { path: "/.well-known/oauth-authorization-server", methods: ["GET", "OPTIONS"] },
];

/** All of them change the request, so all run. */
async function prepareAuthorization(parameters: URLSearchParams, context: PrepareContext): Promise<boolean> {
  const isFormPost = refuseFormPost(parameters);
  const isNamed = await nameApi(parameters, context);
  return promptForOfflineAccess(parameters) || isFormPost || isNamed;
}

async function sendScript(_context: PageContext, pageRequest: PageRequest): Promise<void> {
  sendFile(pageRequest, "text/javascript; charset=utf-8", passkeyScript);
}

async function sendLogo({ issuer }: PageContext, pageRequest: PageRequest): Promise<void> {
  const { logo } = issuer.brand;
  if (logo) return sendFile(pageRequest, logo.type, logo.bytes);
  const missing = { error: "not_found", error_description: "There is no logo." };
  sendPage(issuer, pageRequest, 404, errorPage(issuer, missing));
}
