// A server that Portico is compared with: started, held against Portico's answers, asked in its own words.

import assert from "node:assert/strict";
import { join } from "node:path";
import { type ChildServer, startServer, stopChild } from "./child.ts";
import type { Load } from "./load.ts";
import type { Query } from "./queries.ts";
import type { RivalKind } from "./rival-kinds.ts";

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
    return new Rival(kind, tenantId, await startServer(program, [kind.wordOf(databaseUrl)]));
  }

  get title(): string {
    return this.#kind.title;
  }

  get url(): string {
    return this.#server.url;
  }

  /** @param load what Portico is sent for the query */
  loadFor(query: Query, load: Load): Load {
    return { ...load, body: JSON.stringify({ query: this.#kind.documentOf(query, this.#tenantId) }) };
  }

  /** @throws Error where the answers differ by more than spaces and connections */
  async requireSame(query: Query, load: Load, expected: string): Promise<void> {
    const { method, paths, headers, body } = this.loadFor(query, load);
    const answer = await fetch(this.url + paths[0], { method, headers, body });
    assert.deepEqual(
      JSON.parse(await answer.text(), withoutConnection),
      JSON.parse(expected),
      `${this.title} answers otherwise`,
    );
  }

  async stop(): Promise<void> {
    await stopChild(this.#server.child);
  }
}

/** `{ "nodes": [...] }` is the list in it. */
function withoutConnection(_name: string, value: unknown): unknown {
  return value !== null && typeof value === "object" && "nodes" in value ? value.nodes : value;
}
