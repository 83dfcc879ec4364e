// Paths of the server itself, which no resource may use. Modules list them, so that every command refuses such a
// resource. The server does not start if a module registers a route at a path that it does not list and that belongs to
// none of its resources.

import type { FastifyInstance } from "fastify";
import { OperatorError } from "../errors.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import type { ModuleOperation } from "../model/operations.ts";
import type { HttpModule } from "./http-module.ts";

/** For metrics that a later version will serve. */
const reservedForLater = ["metrics"];

const version = /^v\d+$/;

/**
 * @param paths first segments of paths: `["graphql", "healthz"]`
 * @throws OperatorError for a resource whose path is reserved
 */
export function requireFreePaths(resources: readonly ResourceModel[], paths: readonly string[]): void {
  const reserved = new Set([...paths, ...reservedForLater]);
  for (const { name, segment, isExposed } of resources) {
    if (!isExposed || !(reserved.has(segment) || version.test(segment))) continue;
    throw new OperatorError(
      `resource ${name}: ${segment} is a path of the server's own; set plural, or rename it`,
    );
  }
}

/** @throws OperatorError for a route whose path is reserved, or taken by another operation */
export function requireFreeRoutes(
  { routes, operations, olderVersions }: Model,
  paths: readonly string[],
): void {
  const reserved = new Set([...paths, ...reservedForLater]);
  // Parameters match whatever they are called.
  const requestsOf = ({ method, path, prefixes }: Pick<ModuleOperation, "method" | "path" | "prefixes">) =>
    prefixes.map((prefix) => `${method} ${prefix}${path.replaceAll(/\{\w+\}/g, "{}")}`);
  const ids = Map.groupBy(
    // The routes themselves come last, in their order.
    [...olderVersions.flatMap((version) => version.operations), ...operations].flatMap((each) =>
      requestsOf(each).map((request) => ({ request, id: each.id })),
    ),
    ({ request }) => request,
  );
  for (const route of routes) {
    const segment = route.path.split("/")[1]!;
    if (reserved.has(segment) || version.test(segment))
      throw new OperatorError(
        `route ${route.name}: ${segment} is a path of the server's own; choose another`,
      );
    // The route itself is the last operation of the list, or a route after it is.
    const taken = requestsOf(route).find((request) => ids.get(request)!.length > 1);
    if (taken === undefined) continue;
    const [other] = ids.get(taken)!;
    throw new OperatorError(`route ${route.name}: its path is taken by ${other!.id}; choose another`);
  }
}

/** Checks, route by route, that a module has listed the paths it registers. */
export class ListedPaths {
  #listed: ReadonlySet<string> | undefined;

  constructor(server: FastifyInstance) {
    server.addHook("onRoute", ({ url }) => {
      if (this.#listed && !this.#listed.has(firstSegment(url)))
        throw new Error(
          `the module that registers ${url} does not list its path, and none of its resources has it`,
        );
    });
  }

  /** @param module the module that registers the following routes */
  expect({ paths, servesOperations = false }: Pick<HttpModule, "paths" | "servesOperations">): void {
    this.#listed = servesOperations ? undefined : new Set(paths);
  }
}

/** The first segment of a path after its version. */
export function firstSegment(path: string): string {
  const [first = "", second = ""] = path.split("/").slice(1);
  return version.test(first) ? second : first;
}
