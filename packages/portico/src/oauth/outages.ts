// What clients and people are told while the database cannot be used: the library would say that we are broken.

import type Provider from "oidc-provider";
import type { KoaContextWithOIDC } from "oidc-provider";
import { Problem } from "../errors.ts";
import { showPage } from "./configuration.ts";
import { errorPage } from "./pages/plain-pages.ts";
import type { Site } from "./site.ts";

type Context = Pick<KoaContextWithOIDC, "status" | "type" | "body" | "set" | "accepts">;

export function answerOutages(provider: Provider, site: Site): void {
  const found = new WeakMap<object, Problem>();
  provider.on("server_error", (context: object, error: unknown) => {
    if (isOutage(error)) found.set(context, error);
  });
  provider.use(async (context, next) => {
    try {
      await next();
    } catch (error) {
      if (!isOutage(error)) throw error;
      found.set(context, error);
    }
    const outage = found.get(context);
    if (outage) tell(context, site, outage);
  });
}

export function isOutage(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "unavailable";
}

/** RFC 6749, section 4.1.2.1, which other endpoints take over. */
export function toldOfOutage({ message }: Problem) {
  return { error: "temporarily_unavailable", error_description: message };
}

function tell(context: Context, site: Site, outage: Problem): void {
  const told = toldOfOutage(outage);
  if (context.accepts("json", "html") === "html") showPage(context, errorPage(site, told));
  else context.body = told;
  context.status = outage.status;
  context.set({ ...outage.headers });
}
