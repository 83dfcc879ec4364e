// Passes a checked request on: to oidc-provider, or to the handler of one of Portico's pages.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { AuthorizationServerDependencies, RunningProvider } from "../authorization-server.ts";
import type { PageHandler } from "../interaction/page-request.ts";
import { PasskeyChallenges } from "../interaction/passkey-challenge.ts";
import { pageHeaders } from "../pages/layout.ts";
import { mountedRequest } from "../provider/patches/mounted-request.ts";
import { withoutUserCode, withPresentedCode } from "../provider/patches/verification-uri-complete.ts";
import type { Endpoint } from "./endpoints.ts";
import { deriveSecrets } from "./issuer.ts";

/** A request to an endpoint of the authorization server. */
export interface OAuthCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly running: RunningProvider;
  /** The path below the issuer, with the query. */
  readonly target: string;
  readonly isPage: boolean;
  /** The network address of the client. */
  readonly address: string;
}

export async function forwardToProvider(
  { clients }: Pick<AuthorizationServerDependencies, "clients">,
  { request, reply, running, target, isPage, address }: OAuthCall,
  prepare?: Endpoint["prepare"],
): Promise<void> {
  const { issuer, handle } = running;
  if (isPage)
    for (const [name, value] of Object.entries(pageHeaders(issuer))) reply.raw.setHeader(name, value);
  const prepareAll = async (parameters: URLSearchParams): Promise<boolean> =>
    prepare?.(parameters, { issuer, clients }) ?? false;
  const { target: forwarded, presentedCode } = withoutUserCode(await preparedTarget(target, prepareAll));
  const body = await preparedBody(request, prepareAll);
  const mounted = mountedRequest(request, { issuer, address, isPage, target: forwarded, body });
  await handle(withPresentedCode(mounted, presentedCode), reply.raw);
}

/** Changes parameters. Returns false if nothing changed. */
type Prepare = (parameters: URLSearchParams) => Promise<boolean>;

async function preparedTarget(target: string, prepare: Prepare): Promise<string> {
  const query = target.indexOf("?");
  if (query < 0) return target;
  const parameters = new URLSearchParams(target.slice(query));
  return (await prepare(parameters)) ? `${target.slice(0, query)}?${parameters}` : target;
}

async function preparedBody(
  { body }: FastifyRequest,
  prepare: Prepare,
): Promise<string | Buffer | undefined> {
  if (!Buffer.isBuffer(body)) return undefined;
  const form = new URLSearchParams(body.toString());
  return (await prepare(form)) ? form.toString() : body;
}

export async function handlePage(
  dependencies: AuthorizationServerDependencies,
  { request, reply, running, target, address }: OAuthCall,
  handle: PageHandler,
): Promise<void> {
  const { issuer } = running;
  const query = target.indexOf("?");
  const csrfKey = deriveSecrets(dependencies.secrets, "csrf")[0]!;
  const challenges = new PasskeyChallenges(csrfKey, dependencies.records);
  await handle(
    { ...dependencies, ...running, csrfKey, challenges },
    {
      // Without the body, which is read here.
      request: mountedRequest(request, { issuer, address, target, isPage: true }),
      response: reply.raw,
      form: formOf(request),
      query: new URLSearchParams(query < 0 ? "" : target.slice(query)),
      address,
    },
  );
}

/** The fields of a submitted form; undefined if the request is no POST. */
function formOf({ method, body }: FastifyRequest): URLSearchParams | undefined {
  if (method !== "POST") return undefined;
  return new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : "");
}
