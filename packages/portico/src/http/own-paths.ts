// Paths of the server's own, which no resource may take. They are those that it has routes for, so that there is no
// list that could lack one.

import type { FastifyInstance } from "fastify";
import type { ResourceModel } from "../declare/model.ts";
import { OperatorError } from "../errors.ts";

/** Paths that the server will have. */
const planned = ["metrics", "docs"];
const version = /^v\d+$/;

export class OwnPaths {
  readonly #segments = new Set(planned);
  #isComplete = false;

  /** Takes note of every route that is made on `server`. */
  constructor(server: FastifyInstance) {
    server.addHook("onRoute", ({ url }) => {
      if (!this.#isComplete) this.#segments.add(firstSegment(url));
    });
  }

  /**
   * Call it when all routes but those of resources are made.
   * @throws OperatorError for a resource that would stand at a path of the server's own
   */
  requireFree(resources: readonly ResourceModel[]): void {
    this.#isComplete = true;
    for (const { name, segment, isServed } of resources) {
      if (!isServed || !(this.#segments.has(segment) || version.test(segment))) continue;
      throw new OperatorError(
        `resource ${name}: ${segment} is a path of the server's own; set plural, or rename it`,
      );
    }
  }
}

/** The first segment of a path behind its version. */
function firstSegment(url: string): string {
  const [first = "", second = ""] = url.split("/").slice(1);
  return version.test(first) ? second : first;
}
