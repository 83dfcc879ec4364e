// oidc-provider 9.13 reports every exception of its adapter as 500 `server_error`. While the database cannot be
// reached, Portico responds with 503 `temporarily_unavailable` (RFC 6749, section 4.1.2.1) and Retry-After.

import type Provider from "oidc-provider";
import type { KoaContextWithOIDC } from "oidc-provider";
import { Problem } from "../../../errors.ts";
import type { Issuer } from "../../endpoints/issuer.ts";
import { errorPage } from "../../pages/plain-pages.ts";
import { setPage } from "../page-response.ts";

type Context = Pick<KoaContextWithOIDC, "status" | "type" | "body" | "set" | "accepts">;

export function reportOutages(provider: Provider, issuer: Issuer): void {
  const outages = new WeakMap<object, Problem>();
  provider.on("server_error", (context: object, error: unknown) => {
    if (isOutage(error)) outages.set(context, error);
  });
  provider.use(async (context, next) => {
    try {
      await next();
    } catch (error) {
      if (!isOutage(error)) throw error;
      outages.set(context, error);
    }
    const outage = outages.get(context);
    if (outage) sendOutage(context, issuer, outage);
  });
}

export function isOutage(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "unavailable";
}

export function outageBody({ message }: Problem) {
  return { error: "temporarily_unavailable", error_description: message };
}

function sendOutage(context: Context, issuer: Issuer, outage: Problem): void {
  const errorBody = outageBody(outage);
  if (context.accepts("json", "html") === "html") setPage(context, errorPage(issuer, errorBody));
  else context.body = errorBody;
  context.status = outage.status;
  context.set({ ...outage.headers });
}
