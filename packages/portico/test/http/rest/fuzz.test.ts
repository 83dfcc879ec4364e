// Random requests: no response is a 500, every refusal has the one error shape, and no refused request has changed
// anything.

import assert from "node:assert/strict";
import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { catalogue } from "../../../src/errors.ts";
import { type DatabaseReader, openReader } from "../../support/database-reader.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../../support/server.ts";
import { anyBytes } from "./random-request/bytes.ts";
import { type Piece, segments } from "./random-request/piece.ts";
import { anyRequest, type FuzzRequest } from "./random-request/request.ts";

const requests = randomRuns(3_600, 1_500, "PORTICO_FUZZ_REST");
const rawRequests = Math.ceil(requests / 9);

interface FuzzAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The one error shape, with the status of its code. */
function assertRefusal({ status, headers, text }: FuzzAnswer, isBodyless = false): void {
  assert.ok(status >= 400 && status < 500, `${status} ${text}`);
  assert.equal(headers["content-type"], "application/json; charset=utf-8", `${status} ${text}`);
  if (isBodyless) return;
  const { error, ...others } = JSON.parse(text);
  assert.deepEqual(Object.keys(others), []);
  assert.deepEqual(Object.keys(error), ["code", "message", "details"]);
  assert.equal((catalogue as Record<string, readonly [number, string]>)[error.code]?.[0], status, text);
  assert.ok(typeof error.message === "string" && error.message !== "");
  for (const detail of error.details) {
    assert.deepEqual(Object.keys(detail), ["field", "issue"]);
    assert.match(detail.issue, /^[a-z_]+$/);
    assert.equal(typeof detail.field, "string");
  }
}

/** Every row as one text, by table and id, and the number of events. */
interface Snapshot {
  readonly rows: ReadonlyMap<string, string>;
  readonly events: number;
}

const tables = ["tenants", ...segments];

async function snapshot(reader: DatabaseReader): Promise<Snapshot> {
  const rows = new Map<string, string>();
  for (const table of tables) {
    for (const row of await reader.rows(`select id, t.* from ${table} t`))
      rows.set(`${table} ${row[0]}`, JSON.stringify(row));
  }
  for (const row of await reader.rows("select id, key_hash, scopes, revoked_at, expires_at from api_keys"))
    rows.set(`api_keys ${row[0]}`, JSON.stringify(row));
  const [events] = await reader.rows("select count(*) from events");
  return { rows, events: Number(events![0]) };
}

function changedRows(before: Snapshot, after: Snapshot): string[] {
  const names = new Set([...before.rows.keys(), ...after.rows.keys()]);
  return [...names].filter((name) => before.rows.get(name) !== after.rows.get(name));
}

onEachDatabase("random requests", (database) => {
  let workspace: Workspace;
  let portico: Portico;
  let reader: DatabaseReader;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  before(async () => {
    workspace = await makeWorkspace(database);
    portico = await Portico.start(workspace);
    reader = openReader(workspace.databaseUrl);
    [[keyOwnerId]] = (await reader.rows("select owner_id from api_keys")) as [[unknown]];
    for (let number = 1; number <= 20; number++)
      await portico.request("/posts", { body: { title: `Post ${number}` } });
  });
  after(async () => {
    agent.destroy();
    await reader?.close();
    await portico?.stop();
    await workspace?.remove();
  });

  const cursors: string[] = [];
  const tags: string[] = [];
  let state: Snapshot;
  let version: unknown;
  let keyOwnerId: unknown;

  /** A piece, with its placeholders replaced by values that exist on the server. */
  function filled(piece: Piece): string {
    if (typeof piece === "string") return piece;
    const { known, pick } = piece;
    if (known === "cursor" || known === "tag") {
      const pool = known === "cursor" ? cursors : tags;
      const value = pool[pick % Math.max(pool.length, 1)] ?? "";
      // Some values are altered or cut.
      if (pick % 5 === 1) return value.slice(0, -1);
      return pick % 5 === 2 ? value.replace(/.$/, (last) => (last === "A" ? "B" : "A")) : value;
    }
    const ids = [...state.rows.keys()]
      .filter((name) => name.startsWith(`${known} `))
      .map((name) => name.split(" ")[1]!)
      // Deleting the key's user would revoke the key that the requests use.
      .filter((id) => id !== keyOwnerId);
    return ids[pick % Math.max(ids.length, 1)] ?? "";
  }

  function encoded(text: string): string {
    return encodeURIComponent(text.toWellFormed());
  }

  /** Unchanged, except for characters that a request line cannot contain; a raw socket sends those. */
  function unencoded(text: string): string {
    return text.replace(/[^\u0021-\u007E]/g, "");
  }

  async function send({
    method,
    path,
    query,
    headers,
    body,
  }: FuzzRequest): Promise<FuzzAnswer & { target: string }> {
    const search = query.map(([name, value, isEncoded]) => {
      const encode = isEncoded ? encoded : unencoded;
      return `${encode(name)}=${encode(filled(value))}`;
    });
    const segments = path.map((piece) => (piece === ".." || piece === "%" ? piece : encoded(filled(piece))));
    const whole = `/${segments.join("/")}${search.length > 0 ? `?${search.join("&")}` : ""}`;
    // Node answers a request line that is too long before reading it all, which its client does not expect.
    const target = whole.slice(0, 14_000);
    const sent: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) sent[name] = filled(value);
    if (sent["authorization"] === "") sent["authorization"] = `Bearer ${portico.key}`;
    const bytes = Array.isArray(body) ? body.map((piece) => filled(piece)).join("") : body;
    const payload = typeof bytes === "string" || bytes instanceof Uint8Array ? Buffer.from(bytes) : undefined;
    // With Expect, Node's client would not send the length of the body.
    if (payload) sent["content-length"] = String(payload.length);
    if (sent["expect"] !== undefined || sent["upgrade"] !== undefined) sent["connection"] = "close";
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(`${portico.url}/`, {
        method,
        path: target,
        headers: sent,
        agent,
        timeout: 20_000,
      });
      outgoing.on("response", async (incoming) => {
        let text = "";
        for await (const chunk of incoming) text += chunk;
        resolve({ status: incoming.statusCode!, headers: incoming.headers, text, target });
      });
      outgoing.on("timeout", () => outgoing.destroy(new Error(`no response to ${method} ${target}`)));
      outgoing.on("error", reject);
      outgoing.end(payload);
    });
  }

  /** Compares the changed rows with the response, and remembers the new state. */
  async function assertEffect(method: string, answer: FuzzAnswer & { target: string }): Promise<void> {
    const newVersion = await reader.version([...tables, "api_keys"]);
    if (newVersion === version) return;
    version = newVersion;
    const next = await snapshot(reader);
    const changed = changedRows(state, next);
    const isWrite = answer.status < 300 && !["GET", "HEAD", "OPTIONS"].includes(method);
    if (isWrite) {
      const id =
        answer.text === ""
          ? decodeURIComponent(answer.target.split("?")[0]!.split("/").at(-1)!)
          : JSON.parse(answer.text).id;
      // Deleting a post deletes its comments.
      const isExpected = (name: string): boolean =>
        name.endsWith(` ${id}`) ||
        (method === "DELETE" && state.rows.get(name)!.includes(id) && name.startsWith("comments "));
      assert.deepEqual(
        changed.filter((name) => !isExpected(name)),
        [],
      );
      // One event for the row, and one for each comment that is deleted with its post.
      assert.equal(next.events, state.events + Math.max(1, changed.length));
    } else {
      assert.deepEqual(changed, [], `${answer.status} to ${method} ${answer.target} changed rows`);
      assert.equal(next.events, state.events);
    }
    state = next;
  }

  function remember({ status, headers, text }: FuzzAnswer): void {
    if (headers.etag) tags.push(headers.etag);
    if (status === 200 && text.includes('"pagination"')) {
      const { prevCursor, nextCursor } = JSON.parse(text).pagination;
      for (const token of [prevCursor, nextCursor]) if (token) cursors.push(token);
    }
    if (tags.length > 50) tags.splice(0, 25);
    if (cursors.length > 50) cursors.splice(0, 25);
  }

  test(`${requests} random HTTP requests have valid responses`, async () => {
    state = await snapshot(reader);
    version = await reader.version([...tables, "api_keys"]);
    const seen = new Map<number, number>();
    const property = fc.asyncProperty(anyRequest, async (request) => {
      const answer = await send(request);
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      if ([200, 201, 204, 304].includes(answer.status)) {
        // Only the front page is HTML, for clients that prefer it.
        const isPage =
          request.path.every((piece) => piece === "") &&
          /^text\/html/.test(answer.headers["content-type"] ?? "");
        if (answer.text !== "" && !isPage) JSON.parse(answer.text);
        remember(answer);
      } else {
        assertRefusal(answer, request.method === "HEAD");
      }
      await assertEffect(request.method, answer);
    });
    await fc.assert(property, { numRuns: requests });
    // Otherwise the generator does not produce the intended requests.
    for (const status of [200, 201, 204, 400, 401, 404, 405, 406, 409, 412, 415, 422]) {
      assert.ok(seen.has(status), `no response has the status ${status}: ${JSON.stringify([...seen])}`);
    }
  });

  /** Everything that the server sends in response to these bytes before it closes the connection. */
  async function sendRaw(text: string): Promise<string> {
    const { hostname, port } = new URL(portico.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let received = "";
      socket.setEncoding("utf8");
      socket.setTimeout(20_000, () =>
        socket.destroy(new Error(`the server does not close after ${JSON.stringify(text)}`)),
      );
      socket.on("data", (chunk) => (received += chunk));
      socket.on("error", (error: NodeJS.ErrnoException) =>
        error.code === "ECONNRESET" || error.code === "EPIPE" ? resolve(received) : reject(error),
      );
      socket.on("close", () => resolve(received));
      socket.end(Buffer.from(text.replaceAll("KEY", `Bearer ${portico.key}`), "latin1"));
    });
  }

  test(`${rawRequests} random byte sequences have valid responses`, async () => {
    const before = await snapshot(reader);
    let created = 0;
    const property = fc.asyncProperty(anyBytes, async (bytes) => {
      for (const answer of answersIn(await sendRaw(bytes))) {
        if (answer.status === 201) created++;
        if (![100, 200, 201, 204].includes(answer.status)) assertRefusal(answer, /^HEAD/.test(bytes));
      }
    });
    await fc.assert(property, { numRuns: rawRequests });
    const after = await snapshot(reader);
    assert.equal(after.events - before.events, created);
    assert.equal(changedRows(before, after).length, created);
  });

  test("the server still works afterwards", async () => {
    for (const path of ["/healthz", "/readyz", "/posts", "/users"])
      assert.equal((await portico.request(path)).status, 200);
    const created = await portico.request("/posts", { body: { title: "Still here" } });
    assert.equal(created.status, 201);
    assert.deepEqual(await reader.faults(), []);
    assert.doesNotMatch(portico.output, /"level":(50|60)/);
  });
});

/** The responses on a connection, in order. */
function answersIn(received: string): FuzzAnswer[] {
  const answers: FuzzAnswer[] = [];
  for (let rest = Buffer.from(received); rest.length > 0; ) {
    const end = rest.indexOf("\r\n\r\n");
    assert.ok(
      end > 0,
      `an answer without an end of headers: ${JSON.stringify(rest.toString().slice(0, 200))}`,
    );
    const [line, ...lines] = rest.subarray(0, end).toString().split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line!)?.[1]);
    const headers = Object.fromEntries(
      lines.map((each) => [each.split(":")[0]!.toLowerCase(), each.slice(each.indexOf(":") + 1).trim()]),
    );
    const length = Number(headers["content-length"] ?? 0);
    answers.push({ status, headers, text: rest.subarray(end + 4, end + 4 + length).toString() });
    rest = rest.subarray(end + 4 + length);
  }
  return answers;
}
