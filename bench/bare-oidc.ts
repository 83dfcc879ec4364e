// The limit for token requests: oidc-provider with its in-memory adapter, one client and opaque tokens. It stores nothing
// on disk, signs nothing and logs nothing. Runs in a process of its own, started by oauth.ts.

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

const handle = provider.callback();
serve(
  createServer((request, response) => {
    handle(request, response).catch((error) => response.destroy(error));
  }),
);
