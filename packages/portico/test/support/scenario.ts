// Suites with one server, and tables of scenarios: a fact, a request and the expected response.

import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import type { App } from "../../src/declare/app.ts";
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

/** The server of a suite, started before its first test and stopped after its last. */
export class TestServer<Server extends Portico = Portico> {
  /** Set before the first test. */
  portico!: Server;
  workspace!: Workspace;

  get url(): string {
    return this.portico.url;
  }

  request(path: string, options?: RequestOptions): Promise<Answer> {
    return this.portico.request(path, options);
  }

  /** Creates a row. @returns the row */
  async create(path: string, body: unknown, options: RequestOptions = {}): Promise<Answer["body"]> {
    const created = await this.request(path, { ...options, body });
    assert.equal(created.status, 201, created.text);
    return created.body;
  }

  /** Runs a command on the database of the server. @returns the JSON object it prints */
  command(...words: string[]): Promise<Answer["body"]> {
    return runCommand(this.workspace, words);
  }
}

export interface ServeOptions<Server extends Portico = Portico> {
  readonly env?: Environment;
  readonly cwd?: string;
  /** Declarations to serve instead of a project. */
  readonly app?: App;
  /** Prepares what all tests of the suite use. */
  readonly prepare?: (server: TestServer<Server>) => Promise<void>;
}

/** Starts a server inside this process, on an empty database, for all tests of the enclosing suite. */
export function serve(database: DatabaseName, { app, ...options }: ServeOptions = {}): TestServer {
  const start = (workspace: Workspace, started: StartOptions) =>
    app ? Portico.startApp(workspace, app, started) : Portico.start(workspace, started);
  return serveWith(start, database, options);
}

/** Like `serve`, with the server as a process of its own. */
export function serveProcess(
  database: DatabaseName,
  options: ServeOptions<PorticoProcess> = {},
): TestServer<PorticoProcess> {
  return serveWith(PorticoProcess.start, database, options);
}

function serveWith<Server extends Portico>(
  start: (workspace: Workspace, options: StartOptions) => Promise<Server>,
  database: DatabaseName,
  { prepare, ...options }: ServeOptions<Server>,
): TestServer<Server> {
  const server = new TestServer<Server>();
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await start(server.workspace, options);
    await prepare?.(server);
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });
  return server;
}

/** Runs a command that must succeed. @returns the object that `--json` prints */
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
  /** A key with the requested scopes. */
  readonly key: string;
}

export const everyScope =
  "posts:read,posts:write,comments:read,comments:write,users:read,users:write,projects:read,projects:write,deploy:read,deploy:write";

/** Creates another tenant with a user and a key, with the commands of an operator. */
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
  /** All details, in any order. */
  readonly details?: readonly Detail[];
  /** Members that the body must contain. */
  readonly body?: object;
  /** The text or pattern of each header; null for a header that must be absent. */
  readonly headers?: Readonly<Record<string, string | RegExp | null>>;
  /** A pattern of the error message. */
  readonly message?: RegExp;
}

export interface Scenario extends RequestOptions, Omit<Expected, "body" | "headers"> {
  /** The name of the test: a fact about the product. */
  readonly fact: string;
  /** A function if the path depends on rows that are created before the test. */
  readonly path: string | (() => string | Promise<string>);
  readonly answer?: Expected["body"];
  readonly answerHeaders?: Expected["headers"];
}

/** Declares one test for each scenario. */
export function scenarios(server: TestServer, table: readonly Scenario[]): void {
  for (const { fact, path, status, code, details, message, answer, answerHeaders, ...options } of table) {
    test(fact, async () => {
      const response = await server.request(typeof path === "string" ? path : await path(), options);
      expectAnswer(response, {
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
    const actual = answer.headers.get(name);
    if (value instanceof RegExp) assert.match(actual ?? "", value, name);
    else assert.equal(actual, value, name);
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

/** Sends bytes on a new connection. @returns everything received until the server closes it */
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
    // A server that has responded may reset the connection before it has read everything.
    socket.on("error", () => resolve(received));
    socket.on("close", () => resolve(received));
  });
}

/** Parses a raw HTTP response into the same shape as `TestServer.request` returns. */
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
