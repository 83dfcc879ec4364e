export const cookieNames = {
  session: "portico_session",
  interaction: "portico_interaction",
  resume: "portico_resume",
};

/** Options of the session cookie. Browsers send it to the paths of the authorization server only. */
export function sessionCookie(issuer: string) {
  return { httpOnly: true, sameSite: "lax", signed: true, path: new URL(issuer).pathname } as const;
}

/** Lifetime in seconds of a session without a signed-in user: that of a pending authorization, whose forms need it. */
export const anonymousSessionSeconds = 1_800;
