// A server of the suites of imports, and requests to it.

import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { json as readJson } from "node:stream/consumers";
import { after, before } from "node:test";
import { users } from "../../src/auth/users/resource.ts";
import { app } from "../../src/declare/app.ts";
import { belongsTo, boolean, integer, json, text, timestamp } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { Problem } from "../../src/errors.ts";
import { makeKey } from "./keys.ts";
import { TestServer } from "./scenario.ts";
import { type Answer, type DatabaseName, makeWorkspace, Portico } from "./server.ts";

const notes = resource("note", {
  fields: {
    title: text({ min: 1, max: 50 }),
    slug: text({ max: 50, optional: true, unique: true }),
    count: integer({ default: 0, max: 1_000_000 }),
    isDone: boolean({ default: false }),
    extra: json({ optional: true }),
    dueAt: timestamp({ optional: true }),
    shout: text({ readOnly: true, optional: true }),
    owner: belongsTo(() => users, { default: "caller" }),
  },
  filter: ["title", "slug"],
  policy: {
    read: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId },
    write: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId },
  },
  hooks: {
    before: {
      create: ({ title }) => {
        if (title === "forbidden word") throw new Problem("conflict", "Not this word.");
        if (title === "faulty") throw new TypeError("planned");
        return { shout: String(title).toUpperCase() };
      },
    },
  },
});
const lines = resource("noteLine", {
  parent: notes,
  fields: { body: text({ max: 100 }), about: belongsTo(() => notes, { optional: true }) },
});
const readings = resource("reading", {
  fields: { value: integer() },
  operations: ["list", "get"],
});
export const notesApp = app({
  name: "Notes",
  resources: [notes, lines, readings],
  roles: {
    owner: "*",
    member: ["notes:read", "notes:write", "note-lines:read", "note-lines:write", "events:read"],
    reader: ["notes:read"],
  },
});

export const ndjson = "application/x-ndjson";

export interface Member {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
}

interface SendOptions {
  readonly type?: string;
  readonly key?: string;
}

export class ImportServer extends TestServer {
  /** Imports lines: texts as they are, or bodies. @param path the collection and the query */
  send(
    path: string,
    lines: string | Uint8Array | readonly object[],
    { type = ndjson, key = this.portico.key }: SendOptions = {},
  ): Promise<Answer> {
    const body = typeof lines === "string" || lines instanceof Uint8Array ? lines : linesOf(lines);
    return this.#post(path, body, { "content-type": type, authorization: `Bearer ${key}` });
  }

  async #post(path: string, body: string | Uint8Array, headers: Record<string, string>): Promise<Answer> {
    const sent = typeof body === "string" ? body : new Uint8Array(body);
    const response = await fetch(`${this.url}/v1/imports/${path}`, { method: "POST", body: sent, headers });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  }

  /** Begins an import whose lines are sent one after another. */
  open(path: string, key: string = this.portico.key): OpenImport {
    return new OpenImport(`${this.url}/v1/imports/${path}`, key);
  }

  /** How many notes there are with a title, up to 100. */
  async count(query: string): Promise<number> {
    return (await this.request(`/notes?limit=100&fields=id&${query}`)).body.data.length;
  }

  /** All rows of a collection. @param path with the filters, and the format if it is not NDJSON */
  async exported(path: string, key = this.portico.key): Promise<Answer["body"][]> {
    const text = await this.exportedText(path, key);
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  async exportedText(path: string, key = this.portico.key): Promise<string> {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${this.url}/v1/exports/${path}`, { headers })).text();
  }

  /** All notes with a title. */
  all(title: string): Promise<Answer["body"][]> {
    return this.exported(`notes?title=${encodeURIComponent(title)}`);
  }

  /** A user with a key of all scopes. */
  async member(name: string, role = "member"): Promise<Member> {
    const user = await this.create("/users", { name, email: `${name}@example.com`, role });
    const { id: keyId, key } = await makeKey(this, { scopes: ["*"], ownerId: user.id });
    return { id: user.id, key, keyId };
  }
}

/** An import whose lines the test sends. */
export class OpenImport {
  readonly sending: ClientRequest;
  /** When the credential was found valid, and the server is ready for the lines. */
  readonly begun: Promise<unknown>;
  readonly #response: Promise<readonly IncomingMessage[]>;

  constructor(url: string, key: string) {
    const headers = { authorization: `Bearer ${key}`, "content-type": ndjson, expect: "100-continue" };
    this.sending = request(url, { method: "POST", headers });
    this.begun = once(this.sending, "continue");
    this.sending.flushHeaders();
    // handled: an import that is cut off has no response.
    this.#response = once(this.sending, "response") as Promise<IncomingMessage[]>;
    this.#response.catch(() => {});
  }

  write(lines: string | readonly object[]): void {
    this.sending.write(typeof lines === "string" ? lines : linesOf(lines));
  }

  /** Sends the last lines. @returns the status and the body of the response */
  async end(lines: string | readonly object[] = ""): Promise<Pick<Answer, "status" | "body">> {
    this.sending.end(typeof lines === "string" ? lines : linesOf(lines));
    return this.response();
  }

  /** The response, which an import that ends early has before its last line is sent. */
  async response(): Promise<Pick<Answer, "status" | "body">> {
    const [response] = await this.#response;
    return { status: response!.statusCode!, body: await readJson(response!) };
  }

  /** Breaks the connection. */
  cut(): void {
    this.sending.on("error", () => {});
    this.sending.destroy();
  }
}

export function linesOf(bodies: readonly object[]): string {
  return bodies.map((each) => `${JSON.stringify(each)}\n`).join("");
}

/** As many bodies as a group has. */
export function group(body: object): object[] {
  return Array.from({ length: 250 }, () => body);
}

/** Starts a server inside this process for all tests of the enclosing suite. */
export function serveImports(database: DatabaseName): ImportServer {
  const server = new ImportServer();
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(server.workspace, notesApp);
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });
  return server;
}

/** Waits for a fact that follows from an import in progress. */
export async function until(fact: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) if (await fact()) return;
  throw new Error("it did not become true within 20 s");
}
