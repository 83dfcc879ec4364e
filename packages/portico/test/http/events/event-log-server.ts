// A server whose event log is read: two members with boards of their own, which have cards.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import type { LoggedEvent } from "../../../client/index.ts";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import { belongsTo, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { makeKey } from "../../support/keys.ts";
import { expectAnswer, TestServer } from "../../support/scenario.ts";
import { type Answer, type DatabaseName, makeWorkspace, Portico } from "../../support/server.ts";

const boards = resource("board", {
  fields: {
    name: text({ max: 50 }),
    code: text({ internal: true, optional: true }),
    owner: belongsTo(() => users, { default: "caller" }),
  },
  policy: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId },
  hooks: { before: { create: () => ({ code: "inner" }) } },
});
const cards = resource("boardCard", { parent: boards, fields: { title: text({ max: 50 }) } });
const hidden = resource("trace", { exposed: false, fields: { note: text({ max: 50 }) } });
const declared = app({
  name: "Events",
  resources: [boards, cards, hidden],
  roles: {
    owner: "*",
    member: ["boards:read", "boards:write", "board-cards:read", "board-cards:write", "events:read"],
  },
});

interface Member {
  readonly id: string;
  readonly key: string;
}

export class EventLogServer extends TestServer {
  ann: Member = { id: "", key: "" };
  bob: Member = { id: "", key: "" };

  async start(database: DatabaseName): Promise<void> {
    this.workspace = await makeWorkspace(database);
    this.portico = await Portico.startApp(this.workspace, declared);
    this.ann = await this.#member("ann");
    this.bob = await this.#member("bob");
  }

  async #member(name: string): Promise<Member> {
    const { id } = await this.create("/users", { name, email: `${name}@example.com`, role: "member" });
    const { key } = await makeKey(this, { scopes: ["*"], ownerId: id });
    return { id, key };
  }

  async list(query = "", key = this.portico.key): Promise<Answer> {
    const answer = await this.request(`/v1/events${query}`, { key });
    expectAnswer(answer, { status: 200 });
    return answer;
  }

  async events(query = "", key?: string): Promise<readonly LoggedEvent[]> {
    return (await this.list(query, key)).body.data;
  }

  /** All events of a list, page by page. */
  async pages(query: string, key?: string): Promise<readonly LoggedEvent[]> {
    const found: LoggedEvent[] = [];
    let cursor = "";
    do {
      const { body } = await this.list(`${query}${cursor && `&cursor=${cursor}`}`, key);
      found.push(...body.data);
      assert.equal(body.pagination.hasMore, body.pagination.nextCursor !== null);
      cursor = body.pagination.nextCursor ?? "";
    } while (cursor !== "");
    return found;
  }

  board(name: string, { key } = this.ann): Promise<Answer["body"]> {
    return this.create("/boards", { name }, { key });
  }

  card({ id }: { readonly id: string }, title: string): Promise<Answer["body"]> {
    return this.create(`/boards/${id}/board-cards`, { title });
  }

  /** Sends a request that must succeed. */
  async change(path: string, method: string, body?: object, key = this.portico.key): Promise<Answer> {
    const answer = await this.request(path, { method, key, ...(body && { body }) });
    assert.ok(answer.status < 300, answer.text);
    return answer;
  }
}

/** Starts it for all tests of the enclosing suite. */
export function serveEventLog(database: DatabaseName): EventLogServer {
  const server = new EventLogServer();
  before(() => server.start(database));
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });
  return server;
}
