// Grants: what people allow applications to do. A person sees and withdraws theirs on a page; whoever manages the
// clients of a tenant withdraws any of it with `DELETE /v1/grants/{id}`.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type Provider from "oidc-provider";
import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorise.ts";
import { Problem } from "../errors.ts";
import type { OAuthClientLookup } from "../identity/oauth-client-lookup.ts";
import type { OAuthRecords } from "../identity/oauth-records.ts";
import type { People } from "../identity/person.ts";
import { Hmac } from "../plan/hmac.ts";
import { isSameText } from "../plan/same-text.ts";
import type { AuthorizationServer } from "./authorization-server.ts";
import { grantsPage, type ShownGrant } from "./pages/grants-page.ts";
import { pageHeaders } from "./pages/layout.ts";
import { errorPage } from "./pages/plain-pages.ts";
import type { Site } from "./site.ts";

/** What is kept of a grant, as far as it is shown. */
interface Grant {
  readonly jti: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly openid?: { readonly scope?: string };
}

export interface GrantDoor {
  readonly server: AuthorizationServer;
  readonly callerOf: (request: FastifyRequest) => Caller;
}

export function registerGrants(doors: FastifyInstance, { server, callerOf }: GrantDoor): void {
  const { records, people } = server.parts;
  doors.delete<{ Params: { id: string } }>("/v1/grants/:id", async (request, reply) => {
    const caller = callerOf(request);
    requireScope(caller, "clients:manage");
    const { id } = request.params;
    const found = await records.find("Grant", id);
    const { accountId = "" }: Partial<Grant> = found ? JSON.parse(found.payload) : {};
    const person = await people.find(accountId);
    if (person?.tenantId !== caller.tenantId || !(await records.removeGrant(id)))
      throw new Problem("not_found", "There is no grant with this id.");
    return reply.code(204).send();
  });
}

export interface GrantsPageParts {
  readonly provider: Provider;
  readonly records: OAuthRecords;
  readonly clients: OAuthClientLookup;
  readonly people: People;
  readonly site: Site;
  readonly csrfKey: string;
}

/** Shows a person's grants, and withdraws the one that a form names. */
export async function showGrants(
  { provider, records, clients, people, site, csrfKey }: GrantsPageParts,
  request: IncomingMessage,
  response: ServerResponse,
  form: URLSearchParams | undefined,
): Promise<void> {
  const show = (status: number, page: string) =>
    response.writeHead(status, { ...pageHeaders(), "Content-Type": "text/html; charset=utf-8" }).end(page);
  // The library's types do not know that it takes any context of its own.
  const session = await provider.Session.get(provider.createContext(request, response) as never);
  const person = session.accountId === undefined ? undefined : await people.find(session.accountId);
  if (!person) return void show(401, errorPage(site, signedOut));
  const grants = (await records.grantsOf(person.id)).map((payload): Grant => JSON.parse(payload));
  const csrf = new Hmac(csrfKey).sign(`grants ${session.uid}`);
  if (!form) return void show(200, grantsPage(site, person.email, csrf, await shownGrants(grants, clients)));
  const withdrawn = grants.find(({ jti }) => jti === form.get("grant"));
  if (!isSameText(csrf, form.get("csrf") ?? "") || !withdrawn)
    return void show(403, errorPage(site, refusedForm));
  await records.removeGrant(withdrawn.jti);
  response.writeHead(303, { Location: `${site.path}/grants`, "Cache-Control": "no-store" }).end();
}

const signedOut = {
  error: "login_required",
  error_description:
    "You are not signed in. Sign in to one of your applications, then come back to this page.",
};
const refusedForm = {
  error: "access_denied",
  error_description: "The form does not belong to this page, or what it names is gone.",
};

async function shownGrants(
  grants: readonly Grant[],
  clients: OAuthClientLookup,
): Promise<readonly ShownGrant[]> {
  const shown = await Promise.all(
    grants.map(async ({ jti, clientId, openid }): Promise<ShownGrant[]> => {
      const client = await clients.find(clientId);
      return client ? [{ id: jti, clientName: client.name, scopes: openid?.scope?.split(" ") ?? [] }] : [];
    }),
  );
  return shown.flat();
}
