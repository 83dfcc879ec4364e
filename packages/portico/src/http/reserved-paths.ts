// Paths of the server itself, which no resource may use. Modules list them, so that every command refuses such a
// resource. The server does not start if a module registers a route at a path that it does not list and that belongs to
// none of its resources.

import type { FastifyInstance } from "fastify";
import { OperatorError } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import type { HttpModule } from "./http-module.ts";

/** For pages and metrics that a later version will serve. */
const reservedForLater = ["docs", "metrics"];

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
