/** The paths of oidc-provider's endpoints below the issuer. */
export const routes = {
  authorization: "/authorize",
  token: "/token",
  introspection: "/introspect",
  revocation: "/revoke",
  userinfo: "/userinfo",
  jwks: "/jwks",
  end_session: "/logout",
  device_authorization: "/device_authorization",
  code_verification: "/device",
  pushed_authorization_request: "/par",
} as const;
