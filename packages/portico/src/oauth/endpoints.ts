// The endpoints of the authorization server, and what the door does at some of them instead of the library.

import type { Quota } from "../declare/caller.ts";
import { tokenMark } from "./adapter.ts";
import { routes } from "./configuration.ts";
import { type Exchange, type PageHandler, type PageParts, seeOther, show, showFile } from "./exchange.ts";
import { showGrants } from "./grants.ts";
import { interact } from "./interaction.ts";
import { askForPassword, choosePassword, confirmEmail, showAccount } from "./mailed-links.ts";
import { logoPath } from "./pages/layout.ts";
import { passkeyScript, scriptPath } from "./pages/passkey-form.ts";
import { errorPage } from "./pages/plain-pages.ts";
import { showPasskeys } from "./passkeys.ts";
import { showSessions } from "./sessions.ts";

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
  readonly takesCodes?: boolean;
  /** Pages of ours; the library answers the rest. */
  readonly handle?: PageHandler;
}

const ofRequests: Quota = { limit: 300, windowSeconds: 60 };

export const endpoints: readonly Endpoint[] = [
  {
    path: routes.authorization,
    methods: ["GET"],
    isPage: true,
    prepare: prepareAuthorization,
    quota: ofRequests,
  },
  { path: routes.authorization, methods: ["POST"], isPage: true, quota: ofRequests, handle: askAgainByGet },
  { path: `${routes.authorization}/:uid`, methods: ["GET"], isPage: true, quota: ofRequests },
  { path: "/interaction/:uid", methods: ["GET", "POST"], isPage: true, handle: interact },
  { path: "/interaction/:uid/password", methods: ["GET", "POST"], isPage: true, handle: askForPassword },
  { path: "/password", methods: ["GET", "POST"], isPage: true, quota: ofRequests, handle: choosePassword },
  { path: "/email", methods: ["GET", "POST"], isPage: true, quota: ofRequests, handle: confirmEmail },
  { path: "/account", methods: ["GET", "POST"], isPage: true, handle: showAccount },
  { path: "/grants", methods: ["GET", "POST"], isPage: true, handle: showGrants },
  { path: "/sessions", methods: ["GET", "POST"], isPage: true, handle: showSessions },
  { path: "/passkeys", methods: ["GET", "POST"], isPage: true, handle: showPasskeys },
  { path: logoPath, methods: ["GET"], isPage: true, handle: showLogo },
  { path: scriptPath, methods: ["GET"], isPage: true, handle: showScript },
  { path: routes.end_session, methods: ["GET"], isPage: true, quota: ofRequests },
  { path: routes.end_session, methods: ["POST"], isPage: true, quota: ofRequests, handle: askAgainByGet },
  { path: `${routes.end_session}/confirm`, methods: ["POST"], isPage: true, quota: ofRequests },
  { path: `${routes.end_session}/success`, methods: ["GET"], isPage: true },
  {
    path: routes.code_verification,
    methods: ["GET", "POST"],
    isPage: true,
    quota: ofRequests,
    takesCodes: true,
  },
  { path: `${routes.code_verification}/:uid`, methods: ["GET"], isPage: true, quota: ofRequests },
  { path: routes.device_authorization, methods: ["POST", "OPTIONS"], quota: ofRequests },
  {
    path: routes.pushed_authorization_request,
    methods: ["POST", "OPTIONS"],
    prepare: prepareAuthorization,
    quota: ofRequests,
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
  form.set("token", `${tokenMark}${token}`);
  return true;
}

/** What people of `/authorize` would otherwise meet: a silent refusal, and a page that works with a script only. */
function prepareAuthorization(parameters: URLSearchParams): boolean {
  const isFormPost = parameters.get("response_mode") === "form_post";
  if (isFormPost) parameters.set("response_mode", "not_offered");
  // Without it, offline access is dropped without a word (OpenID Connect Core, section 11).
  const isOffline = parameters.get("scope")?.split(" ").includes("offline_access") ?? false;
  const prompts = (parameters.get("prompt") ?? "").split(" ").filter((each) => each !== "");
  const isUnasked = isOffline && !prompts.includes("consent") && !prompts.includes("none");
  if (isUnasked) parameters.set("prompt", [...prompts, "consent"].join(" "));
  return isFormPost || isUnasked;
}

/** Long enough for every request that could have been sent with GET. */
const longestQuery = 12 * 1024;

/**
 * What a form of an application sends (OpenID Connect Core, section 3.1.2.1; RP-Initiated Logout, section 2) is asked
 * for once more: a browser sends its cookies with that, and not with forms of other sites.
 */
async function askAgainByGet({ site }: PageParts, exchange: Exchange): Promise<void> {
  const { request, form } = exchange;
  const query = String(form ?? "");
  const isForm = /^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers["content-type"] ?? "");
  const refuse = (status: number, error_description: string): void =>
    show(site, exchange, status, errorPage(site, { error: "invalid_request", error_description }));
  if (!isForm) return refuse(400, "Only forms can be sent here.");
  if (query.length > longestQuery) return refuse(413, "The request is too long.");
  seeOther(site, exchange, `${request.url?.split("?", 1)[0]}?${query}`);
}

async function showScript(_parts: PageParts, exchange: Exchange): Promise<void> {
  showFile(exchange, "text/javascript; charset=utf-8", passkeyScript);
}

async function showLogo({ site }: PageParts, exchange: Exchange): Promise<void> {
  const { logo } = site.brand;
  if (logo) return showFile(exchange, logo.type, logo.bytes);
  const missing = { error: "not_found", error_description: "There is no logo." };
  show(site, exchange, 404, errorPage(site, missing));
}
