// What tokens are held against: oidc-provider as it comes, with its adapter in memory, one client and opaque tokens. It
// keeps nothing on disk, signs nothing and logs nothing. A process of its own, started by oauth.ts.

import { createServer } from "node:http";
import Provider from "oidc-provider";
import { host, serve } from "./serve.ts";
import { tokenPath } from "./token-path.ts";

const [client_id, client_secret] = process.argv.slice(2);
const provider = new Provider(`http://${host}`, {
  clients: [
    {
      ...{ client_id: client_id!, client_secret: client_secret! },
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    },
  ],
  scopes: ["posts:read"],
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
  routes: { token: tokenPath },
});

const answer = provider.callback();
serve(
  createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error));
  }),
);
