// A server that Portico is compared with: started, held against Portico's answers, asked in its own words.

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

  /** @param tenantId whose rows it is asked for */
  static async start(kind: RivalKind, databaseUrl: string, tenantId: string): Promise<Rival> {
    const program = join(import.meta.dirname, kind.program);
    return new Rival(kind, tenantId, await startServer(program, [kind.wordOf(databaseUrl), tenantId]));
  }

  /** Whether a row is for it. */
  isAsked({ query, isForRivals }: Row): boolean {
    return this.#kind.documentOf ? query !== undefined : isForRivals === true;
  }

  get title(): string {
    return this.#kind.title;
  }

  get url(): string {
    return this.#server.url;
  }

  /** What it is sent where Portico is sent the load of a row. */
  loadFor({ load, query }: Row): Load {
    const { documentOf } = this.#kind;
    if (!documentOf || !query) return load;
    return { ...load, body: JSON.stringify({ query: documentOf(query, this.#tenantId) }) };
  }

  /** @throws Error where the answers differ by more than spaces, connections and cursors */
  async requireSame(row: Row, expected: string): Promise<void> {
    const { method, paths, headers, body } = this.loadFor(row);
    const answer = await fetch(this.url + paths[0], { method, headers, ...(body !== "" && { body }) });
    assert.deepEqual(
      withoutCursors(JSON.parse(await answer.text(), withoutConnection)),
      withoutCursors(JSON.parse(expected)),
      `${this.title} answers otherwise`,
    );
  }

  async stop(): Promise<void> {
    await stopChild(this.#server.child);
  }
}

/** Whose cursors are whose, nobody else can tell. */
function withoutCursors({ pagination: _, ...rest }: Record<string, unknown>): unknown {
  return rest;
}

/** `{ "nodes": [...] }` is the list in it. */
function withoutConnection(_name: string, value: unknown): unknown {
  return value !== null && typeof value === "object" && "nodes" in value ? value.nodes : value;
}
