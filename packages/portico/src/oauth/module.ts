import { firstSegment } from "../http/reserved-paths.ts";
import { servedVersions } from "../model/served-versions.ts";
import type { Module, ModuleOptions } from "../runtime/module.ts";
import { authUrl } from "../runtime/settings/settings.ts";
import { deleteGrant, listGrants } from "./account/grant-operations.ts";
import { oauthRoutes } from "./endpoints/described-routes.ts";
import { mountedAt } from "./endpoints/issuer.ts";

/** First segments of the paths of the authorization server, which are reserved only if AUTH_URL has no path. */
const pathsAtRoot = [
  "account",
  "authorize",
  "device",
  "device_authorization",
  "email",
  "interaction",
  "introspect",
  "invitation",
  "jwks",
  "logo",
  "logout",
  "members",
  "par",
  "passkey.js",
  "passkeys",
  "password",
  "revoke",
  "sessions",
  "sign-up",
  "token",
  "userinfo",
];

/** The authorization server: OAuth 2.0 and OpenID Connect, with the pages where people sign in and consent. */
export function oauthModule({ settings }: ModuleOptions): Module {
  const { publicUrl } = settings;
  // The path under which the authorization server is registered: `/oauth`; empty at the root.
  const { mount } = mountedAt(authUrl(settings, publicUrl), publicUrl);
  return {
    operations: [listGrants, deleteGrant],
    describedRoutes: oauthRoutes,
    paths: [".well-known", "grants", ...(mount === "" ? pathsAtRoot : [firstSegment(mount)])],
    async start({ oauth, model }) {
      const [{ registerOAuth }, { registerGrantRoutes }] = await Promise.all([
        import("./endpoints/routes.ts"),
        import("./account/grant-routes.ts"),
      ]);
      const { server } = oauth;
      const { emailQueue, invitationEmails } = server.dependencies;
      return {
        tasks: [
          { name: "writing emails about accounts", intervalMs: 1_000, run: () => emailQueue.poll() },
          { name: "writing emails of invitations", intervalMs: 1_000, run: () => invitationEmails.poll() },
        ],
        registerOpen: (routes, { addressOf }) => registerOAuth(routes, { ...oauth, addressOf }),
        register: (routes, { basePath, callerOf }) =>
          registerGrantRoutes(routes, { server, versions: servedVersions(model), basePath, callerOf }),
      };
    },
  };
}
