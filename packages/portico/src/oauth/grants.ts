// Grants: what people allow applications to do. A person sees and withdraws theirs on a page; whoever manages the
// clients of a tenant withdraws any of it with `DELETE /v1/grants/{id}`.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorise.ts";
import { Problem } from "../errors.ts";
import type { OAuthClientLookup } from "../identity/oauth-client-lookup.ts";
import type { OAuthRecords } from "../identity/oauth-records.ts";
import { signedIn } from "./account.ts";
import type { AuthorizationServer } from "./authorization-server.ts";
import { type Exchange, type PageParts, seeOther, show, showRefusedForm } from "./exchange.ts";
import { grantsPage, type ShownGrant } from "./pages/grants-page.ts";

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

/** Shows a person's grants, and withdraws the one that a form names. */
export async function showGrants(parts: PageParts, exchange: Exchange): Promise<void> {
  const { records, clients, site } = parts;
  const found = await signedIn(parts, exchange);
  if (!found) return;
  const { person, csrf } = found;
  const grants = await grantsOf(records, person.id);
  if (!exchange.form)
    return show(site, exchange, 200, grantsPage(site, person, csrf, await shownGrants(grants, clients)));
  const withdrawn = grants.find(({ jti }) => jti === exchange.form?.get("grant"));
  if (!withdrawn) return showRefusedForm(site, exchange);
  await records.removeGrant(withdrawn.jti);
  seeOther(site, exchange, "/grants");
}

async function grantsOf(records: OAuthRecords, accountId: string): Promise<readonly Grant[]> {
  return (await records.ofAccount("Grant", accountId)).map((payload): Grant => JSON.parse(payload));
}

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
