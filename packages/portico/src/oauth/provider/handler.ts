// How the library answers a request, and leaves nothing of it behind.

import type { IncomingMessage, ServerResponse } from "node:http";
import type Provider from "oidc-provider";

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A request that tells which context the library made for it. */
interface RequestWithContext extends IncomingMessage {
  context?: object | undefined;
}

/**
 * The library gives each context an accessor of its own, and V8 makes accessors in the old generation: whatever they
 * reach, all of a request, would outlive every scavenge and be moved there too. Emptied, a context leaves a fifth of
 * that, and the old generation is collected a fifth as often.
 */
export function handlerOf(provider: Provider): Handler {
  provider.use((context, next) => {
    (context.req as RequestWithContext).context = context;
    return next();
  });
  const answer = provider.callback();
  return async (request: RequestWithContext, response) => {
    await answer(request, response);
    // Until then, Koa asks the context what became of the response.
    if (response.closed) releaseContext(request);
    else response.once("close", () => releaseContext(request));
  };
}

function releaseContext(request: RequestWithContext): void {
  const { context } = request;
  if (!context) return;
  request.context = undefined;
  // Where no route of the library was found there is none.
  const { oidc } = context as { readonly oidc?: object };
  if (oidc) clearMembers(oidc);
  clearMembers(context);
}

function clearMembers(object: object): void {
  for (const name of Object.keys(object)) Reflect.set(object, name, undefined);
}
