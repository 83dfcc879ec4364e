/** The path of the token endpoint, at Portico and at the server with which it is compared. */
export const tokenPath = "/oauth/token";
