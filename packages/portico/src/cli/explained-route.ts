// Requests to routes of the app: their code decides what they read, so only who may call them can be explained.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { Model } from "../model/model.ts";
import type { RouteModel } from "../model/route.ts";
import { requireAccess } from "../routes/access.ts";
import { RefusedRequest } from "./recorded-request.ts";

/** @param path with a query or without; undefined if no route is there */
export function routeAt({ routes }: Model, method: string, path: string): RouteModel | undefined {
  const [target = ""] = path.split("?", 1);
  return routes.find(
    (route) =>
      route.method === method &&
      route.prefixes.some((prefix) =>
        new RegExp(`^${prefix}${route.path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`).test(
          target,
        ),
      ),
  );
}

export function refusalOfRoute(route: RouteModel, caller: Caller): RefusedRequest | undefined {
  try {
    requireAccess(route, caller);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return new RefusedRequest(error.status, error.code, error.message);
    throw error;
  }
}

export function routeLine({ name, scope, isPublic }: RouteModel): string {
  const needed = scope === null ? "a secret credential" : `the scope ${scope}`;
  return `${name} is a route, whose code decides what it reads and writes. It needs ${isPublic ? "no credential" : needed}.`;
}
