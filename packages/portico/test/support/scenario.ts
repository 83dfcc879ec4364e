// Scenarios: a table of sentences, each with a request and what must come back.

import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import type { Detail, ErrorCode } from "../../src/errors.ts";
import {
  type Answer,
  type DatabaseName,
  type Environment,
  makeWorkspace,
  Portico,
  PorticoProcess,
  portico,
  type RequestOptions,
  type StartOptions,
  type Workspace,
} from "./server.ts";

/** The server of a suite: started before its first test, stopped after its last. */
export class Served<Server extends Portico = Portico> {
  /** Known once the suite has begun. */
  portico!: Server;
  workspace!: Workspace;

  get url(): string {
    return this.portico.url;
  }

  request(path: string, options?: RequestOptions): Promise<Answer> {
    return this.portico.request(path, options);
  }

  /** Makes a row and answers with it. */
  async create(path: string, body: unknown, options: RequestOptions = {}): Promise<Answer["body"]> {
    const created = await this.request(path, { ...options, body });
    assert.equal(created.status, 201, created.text);
    return created.body;
  }

  /** Runs a command beside the server; answers with the object that it printed. */
  command(...words: string[]): Promise<Answer["body"]> {
    return runCommand(this.workspace, words);
  }
}

export interface ServeOptions<Server extends Portico = Portico> {
  readonly env?: Environment;
  readonly cwd?: string;
  /** What the tests of the suite share. */
  readonly prepare?: (served: Served<Server>) => Promise<void>;
}

/** One server inside this process, on an empty database, for all tests of the suite that this is called in. */
export function serve(database: DatabaseName, options: ServeOptions = {}): Served {
  return serveWith(Portico.start, database, options);
}

/** As `serve`, with a server that is a process of its own. */
export function serveProcess(
  database: DatabaseName,
  options: ServeOptions<PorticoProcess> = {},
): Served<PorticoProcess> {
  return serveWith(PorticoProcess.start, database, options);
}

function serveWith<Server extends Portico>(
  start: (workspace: Workspace, options: StartOptions) => Promise<Server>,
  database: DatabaseName,
  { prepare, ...options }: ServeOptions<Server>,
): Served<Server> {
  const served = new Served<Server>();
  before(async () => {
    served.workspace = await makeWorkspace(database);
    served.portico = await start(served.workspace, options);
    await prepare?.(served);
  });
  after(async () => {
    await served.portico?.stop();
    await served.workspace?.remove();
  });
  return served;
}

/** Runs a command that must succeed and answers with the object that `--json` prints. */
export async function runCommand(
  workspace: Pick<Workspace, "databaseUrl">,
  words: readonly string[],
  options: { env?: Environment; cwd?: string } = {},
): Promise<Answer["body"]> {
  const { code, stdout, stderr } = await portico(workspace, [...words, "--json"], options);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

export interface Tenant {
  readonly id: string;
  readonly userId: string;
  /** A key with every scope that the test needs. */
  readonly key: string;
}

export const everyScope =
  "posts:read,posts:write,comments:read,comments:write,users:read,users:write,projects:read,projects:write,deploy:read,deploy:write";

/** A further tenant with a user and a key, made as an operator makes them. */
export async function makeTenant(
  workspace: Pick<Workspace, "databaseUrl">,
  scopes: string = everyScope,
  options: { env?: Environment; cwd?: string } = {},
): Promise<Tenant> {
  const { tenant } = await runCommand(workspace, ["tenant", "create", "--name", "Another"], options);
  const words = ["--email", "grace@example.com", "--name", "Grace", "--password", "correct horse"];
  const { user } = await runCommand(workspace, ["user", "create", ...words, "--tenant", tenant.id], options);
  const named = ["key", "create", "--name", "Theirs", "--scopes", scopes, "--tenant", tenant.id];
  const { key } = await runCommand(workspace, named, options);
  return { id: tenant.id, userId: user.id, key };
}

export interface Expected {
  readonly status: number;
  readonly code?: ErrorCode;
  /** Every fault, in any order. */
  readonly details?: readonly Detail[];
  /** Members that the body must have, among others. */
  readonly body?: object;
  /** A text or pattern that a header must have; null for a header that must not be there. */
  readonly headers?: Readonly<Record<string, string | RegExp | null>>;
  /** What the message of an error must tell. */
  readonly message?: RegExp;
}

export interface Scenario extends RequestOptions, Omit<Expected, "body" | "headers"> {
  /** The fact that this shows. */
  readonly fact: string;
  /** Made when the test runs, where it depends on rows that were made before. */
  readonly path: string | (() => string | Promise<string>);
  readonly answer?: Expected["body"];
  readonly answerHeaders?: Expected["headers"];
}

/** One test for each scenario. */
export function scenarios(served: Served, table: readonly Scenario[]): void {
  for (const { fact, path, status, code, details, message, answer, answerHeaders, ...options } of table) {
    test(fact, async () => {
      const found = await served.request(typeof path === "string" ? path : await path(), options);
      expectAnswer(found, {
        status,
        ...(code && { code }),
        ...(details && { details }),
        ...(message && { message }),
        ...(answer && { body: answer }),
        ...(answerHeaders && { headers: answerHeaders }),
      });
    });
  }
}

export function expectAnswer(answer: Answer, expected: Expected): void {
  assert.equal(answer.status, expected.status, answer.text);
  if (answer.status >= 400 && answer.text !== "") expectErrorShape(answer.body, answer.headers);
  if (expected.code) assert.equal(answer.body.error.code, expected.code, answer.text);
  if (expected.details) assert.deepEqual(sorted(answer.body.error.details), sorted(expected.details));
  if (expected.message) assert.match(answer.body.error.message, expected.message);
  if (expected.body) assert.partialDeepStrictEqual(answer.body, expected.body);
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    const found = answer.headers.get(name);
    if (value instanceof RegExp) assert.match(found ?? "", value, name);
    else assert.equal(found, value, name);
  }
}

/** The one shape of an error: `{"error": {"code", "message", "details": [{"field", "issue"}]}}`. */
export function expectErrorShape(body: Answer["body"], headers: Headers): void {
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.deepEqual(Object.keys(body.error).sort(), ["code", "details", "message"]);
  assert.match(body.error.code, /^[a-z_]+$/);
  assert.ok(body.error.message.length > 0, "an error has a message");
  for (const detail of body.error.details) {
    assert.equal(typeof detail.field, "string");
    assert.match(detail.issue, /^[a-z_]+$/);
  }
}

function sorted(details: readonly Detail[]): string[] {
  return details.map(({ field, issue }) => `${field} ${issue}`).sort();
}

/** Sends bytes on a connection of their own and answers with all that comes back until it is closed. */
export function exchange(url: string, bytes: string | Uint8Array, timeoutMs = 5_000): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes));
    socket.setEncoding("utf8");
    socket.setTimeout(timeoutMs, () => {
      socket.destroy();
      reject(new Error(`the connection stayed open; received: ${received}`));
    });
    socket.on("data", (chunk) => (received += chunk));
    // A server that has said what it has to say may cut off the rest of what is sent.
    socket.on("error", () => resolve(received));
    socket.on("close", () => resolve(received));
  });
}

/** A raw answer taken apart as `Served.request` would. */
export function parseAnswer(received: string): Answer {
  const end = received.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = received.slice(0, end).split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const text = received.slice(end + 4);
  return {
    status: Number(statusLine.split(" ")[1]),
    headers,
    text,
    body: text === "" ? undefined : JSON.parse(text),
  };
}
