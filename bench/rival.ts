// A server with which Portico is compared. Its responses must have the same content as Portico's.

import assert from "node:assert/strict";
import { join } from "node:path";
import { type ChildServer, startServer, stopChild } from "./child.ts";
import type { Load } from "./load.ts";
import type { RivalKind } from "./rival-kinds.ts";
import type { Row } from "./rows.ts";

export class Rival {
  readonly #kind: RivalKind;
  readonly #tenantId: string;
  readonly #server: ChildServer;

  private constructor(kind: RivalKind, tenantId: string, server: ChildServer) {
    this.#kind = kind;
    this.#tenantId = tenantId;
    this.#server = server;
  }

  /** @param tenantId the tenant whose rows are requested */
  static async start(kind: RivalKind, databaseUrl: string, tenantId: string): Promise<Rival> {
    const program = join(import.meta.dirname, kind.program);
    return new Rival(kind, tenantId, await startServer(program, [kind.argumentOf(databaseUrl), tenantId]));
  }

  /** Whether it can answer the requests of a row. */
  isMeasuredOn({ query, isForRivals }: Row): boolean {
    return this.#kind.queryOf ? query !== undefined : isForRivals === true;
  }

  get title(): string {
    return this.#kind.title;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Its load for a row, with its own query. */
  loadFor({ load, query }: Row): Load {
    const { queryOf } = this.#kind;
    if (!queryOf || !query) return load;
    return { ...load, body: JSON.stringify({ query: queryOf(query, this.#tenantId) }) };
  }

  /** @throws Error if the responses differ in more than white space, connections and cursors */
  async requireSameResponse(row: Row, expected: string): Promise<void> {
    const { method, paths, headers, body } = this.loadFor(row);
    const response = await fetch(this.url + paths[0], { method, headers, ...(body !== "" && { body }) });
    assert.deepEqual(
      withoutCursors(JSON.parse(await response.text(), withoutConnection)),
      withoutCursors(JSON.parse(expected)),
      `${this.title} sends a different response`,
    );
  }

  async stop(): Promise<void> {
    await stopChild(this.#server.child);
  }
}

/** Each server has its own form of cursors. */
function withoutCursors({ pagination: _, ...rest }: Record<string, unknown>): unknown {
  return rest;
}

/** Replaces `{ "nodes": [...] }` with its list. */
function withoutConnection(_name: string, value: unknown): unknown {
  return value !== null && typeof value === "object" && "nodes" in value ? value.nodes : value;
}
