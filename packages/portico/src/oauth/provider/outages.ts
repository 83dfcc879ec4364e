// What clients and people are told while the database cannot be used: the library would say that we are broken.

import type Provider from "oidc-provider";
import type { KoaContextWithOIDC } from "oidc-provider";
import { isUnavailable, type Problem } from "../../errors.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { errorPage } from "../pages/plain-pages.ts";
import { showPage } from "./configuration.ts";

type Context = Pick<KoaContextWithOIDC, "status" | "type" | "body" | "set" | "accepts">;

export function handleOutages(provider: Provider, issuer: Issuer): void {
  const outages = new WeakMap<object, Problem>();
  provider.on("server_error", (context: object, error: unknown) => {
    if (isUnavailable(error)) outages.set(context, error);
  });
  provider.use(async (context, next) => {
    try {
      await next();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      outages.set(context, error);
    }
    const outage = outages.get(context);
    if (outage) sendOutage(context, issuer, outage);
  });
}

/** RFC 6749, section 4.1.2.1, which other endpoints take over. */
export function outageBody({ message }: Problem) {
  return { error: "temporarily_unavailable", error_description: message };
}

function sendOutage(context: Context, issuer: Issuer, outage: Problem): void {
  const errorBody = outageBody(outage);
  if (context.accepts("json", "html") === "html") showPage(context, errorPage(issuer, errorBody));
  else context.body = errorBody;
  context.status = outage.status;
  context.set({ ...outage.headers });
}
