// A server with which Portico is compared. Its responses must have the same content as Portico's.

import assert from "node:assert/strict";
import { join } from "node:path";
import { type ChildServer, startServer, stopChild } from "./child.ts";
import type { Filled } from "./fill.ts";
import type { Load, LoadResult, LoadTool } from "./load.ts";
import type { Opponent } from "./opponent.ts";
import type { RivalKind } from "./rival-kinds.ts";
import type { Row } from "./rows.ts";

export class Rival implements Opponent {
  readonly title: string;
  readonly floorPercent: number | undefined;
  readonly #kind: RivalKind;
  readonly #tenantNo: number;
  readonly #server: ChildServer;

  private constructor(kind: RivalKind, tenantNo: number, server: ChildServer) {
    this.title = kind.title;
    this.floorPercent = kind.floorPercent;
    this.#kind = kind;
    this.#tenantNo = tenantNo;
    this.#server = server;
  }

  /** It serves the rows of the tenant, and creates rows of the user. */
  static async start(kind: RivalKind, databaseUrl: string, { tenantNo, userId }: Filled): Promise<Rival> {
    const program = join(import.meta.dirname, kind.program);
    const server = await startServer(program, [kind.argumentOf(databaseUrl), String(tenantNo), userId]);
    return new Rival(kind, tenantNo, server);
  }

  get isLimit(): boolean {
    return this.floorPercent !== undefined;
  }

  /** Whether it can answer the requests of a row. */
  isMeasuredOn({ rivals }: Row): boolean {
    return rivals === this.#kind.measures;
  }

  run(tool: LoadTool, row: Row, seconds: number): Promise<LoadResult> {
    return tool.run(this.#server.url, this.#loadFor(row), seconds);
  }

  /** Its load for a row, with its own query. */
  #loadFor({ load, query }: Row): Load {
    const { queryOf } = this.#kind;
    if (!queryOf || !query) return load;
    return { ...load, body: JSON.stringify({ query: queryOf(query, this.#tenantNo) }) };
  }

  /** @throws Error if the responses differ in more than white space, connections, cursors, and what differs in each row */
  async requireSameResponse(row: Row, expected: string): Promise<void> {
    const { method, paths, headers, body } = this.#loadFor(row);
    const response = await fetch(this.#server.url + paths[0], {
      method,
      headers,
      ...(body !== "" && { body }),
    });
    const comparable = this.#kind.measures === "creates" ? withoutNewValues : withoutCursors;
    assert.deepEqual(
      comparable(JSON.parse(await response.text(), withoutConnection)),
      comparable(JSON.parse(expected)),
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

/** Each row has an id and times of its own. */
function withoutNewValues({ id, createdAt, updatedAt, ...rest }: Record<string, unknown>): unknown {
  return { ...rest, ...{ id: typeof id, createdAt: typeof createdAt, updatedAt: typeof updatedAt } };
}

/** Replaces `{ "nodes": [...] }` with its list. */
function withoutConnection(_name: string, value: unknown): unknown {
  return value !== null && typeof value === "object" && "nodes" in value ? value.nodes : value;
}
