/** Where Portico gives tokens; the server that it is compared with does so too. */
export const tokenPath = "/oauth/token";
