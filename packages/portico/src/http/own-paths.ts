// Paths of the server's own, which no resource may take. They are listed, so that every command refuses such a resource,
// `migrate` above all; the server does not start with a route that the list lacks.

import type { FastifyInstance } from "fastify";
import { OperatorError } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";

/** Paths that the server has, `docs` and `metrics` among them, which it will have. */
const own = ["", ".well-known", "docs", "grants", "graphql", "healthz", "metrics", "readyz"];

/** Those of the authorization server, where AUTH_URL has no path of its own. */
const authorization = [
  ...["account", "authorize", "device", "device_authorization", "email", "interaction", "introspect", "jwks"],
  ...[
    "logo",
    "logout",
    "par",
    "passkey.js",
    "passkeys",
    "password",
    "revoke",
    "sessions",
    "token",
    "userinfo",
  ],
];

const version = /^v\d+$/;

/** @param mount the path of the authorization server as requests arrive */
function ownSegments(mount: string): ReadonlySet<string> {
  return new Set(mount === "" ? [...own, ...authorization] : [...own, firstSegment(mount)]);
}

/** @throws OperatorError for a resource that would stand at a path of the server's own */
export function requireFreePaths(resources: readonly ResourceModel[], mount: string): void {
  const taken = ownSegments(mount);
  for (const { name, segment, isExposed } of resources) {
    if (!isExposed || !(taken.has(segment) || version.test(segment))) continue;
    throw new OperatorError(
      `resource ${name}: ${segment} is a path of the server's own; set plural, or rename it`,
    );
  }
}

/** Refuses routes that the list lacks, until those of resources are made. */
export class OwnPaths {
  readonly #listed: ReadonlySet<string>;
  #isComplete = false;

  constructor(server: FastifyInstance, mount: string) {
    this.#listed = ownSegments(mount);
    server.addHook("onRoute", ({ url }) => {
      if (!this.#isComplete && !this.#listed.has(firstSegment(url)))
        throw new Error(`${url} is not among the paths of the server's own (own-paths.ts)`);
    });
  }

  /** Call it when all routes but those of resources are made. */
  complete(): void {
    this.#isComplete = true;
  }
}

/** The first segment of a path behind its version. */
function firstSegment(url: string): string {
  const [first = "", second = ""] = url.split("/").slice(1);
  return version.test(first) ? second : first;
}
