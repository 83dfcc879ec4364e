// A tenant is deleted while something is in progress for it: requests whose bodies arrive late, uploads, calls of handlers
// and runs of schedules. Nothing of it remains, and nothing runs for it afterwards.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { assemble } from "../../../src/runtime/compose.ts";
import { control } from "../../fixtures/occupied/portico.config.ts";
import { openReader, writeDirectly } from "../../support/database-reader.ts";
import { textFile, uploadFile } from "../../support/files.ts";
import { RawConnection } from "../../support/raw-connection.ts";
import { makeTenant, runCommand, serve, type Tenant } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const cwd = join(import.meta.dirname, "../../fixtures/occupied");
const past = "2020-01-01T00:00:00.000Z";

onEachDatabase("a tenant that is deleted while it is in use", (database) => {
  const files = mkdtempSync(join(tmpdir(), "portico-files-"));
  const server = serve(database, { cwd, env: { STORAGE_URL: `file:${files}` } });
  after(() => rmSync(files, { recursive: true }));
  const command = (...words: string[]) => runCommand(server.workspace, words, { cwd });
  const write = (statement: string) => writeDirectly(server.workspace.databaseUrl, statement);
  /** What waits, as `handler tenant_...`, until the test lets it go on. */
  const waiting = new Map<string, () => void>();
  /** All that was called, in order. */
  const calls: string[] = [];
  before(() => {
    control.wait = (code, tenantId) => {
      calls.push(`${code} ${tenantId}`);
      return new Promise((resolve) => waiting.set(`${code} ${tenantId}`, resolve));
    };
  });

  /** A request whose body does not arrive completely before it is told to. */
  const beginRequest = async (
    line: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    sent: number = 5,
  ): Promise<() => Promise<string>> => {
    const connection = await RawConnection.open(server.url);
    const length = String(Buffer.byteLength(body));
    connection.request(line, { ...headers, "Content-Length": length, Connection: "close" });
    connection.socket.write(body.slice(0, sent));
    return async () => {
      connection.socket.write(body.slice(sent));
      await connection.until(/^HTTP\/1.1 \d{3}/);
      connection.close();
      return connection.received.slice(9, 12);
    };
  };

  const called = async (name: string): Promise<void> => {
    while (!waiting.has(name)) await sleep(20);
  };
  /** The tables with rows of tenants that do not exist. */
  const leftBehind = async (): Promise<readonly string[]> => {
    const { tables } = await assemble({ folder: cwd, environment: {} });
    const reader = openReader(server.workspace.databaseUrl);
    const found: string[] = [];
    for (const { name, columns } of tables) {
      if (!columns.some((column) => column.name === "tenant_no")) continue;
      const rows = await reader.rows(`select 1 from ${name} where tenant_no not in (select no from tenants)`);
      if (rows.length > 0) found.push(`${name}: ${rows.length}`);
    }
    await reader.close();
    return found;
  };
  const storedFiles = async (): Promise<readonly unknown[]> => {
    const reader = openReader(server.workspace.databaseUrl);
    const rows = await reader.rows("select id, status from stored_files");
    await reader.close();
    return rows;
  };
  const contents = (): readonly string[] =>
    readdirSync(files, { recursive: true, encoding: "utf8" }).filter((path) => path.includes("/"));

  const beginRequests = async ({ key }: Tenant) => {
    const authorization = { Authorization: `Bearer ${key}` };
    const json = { ...authorization, "Content-Type": "application/json" };
    const form = { ...authorization, "Content-Type": "multipart/form-data; boundary=b" };
    const part = '--b\r\nContent-Disposition: form-data; name="attachment"; filename="a"\r\n\r\n';
    const title = '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nlate\r\n';
    const query = JSON.stringify({ query: 'mutation { createNote(input: { title: "late" }) { id } }' });
    const announcement = { resource: "notes", field: "attachment", name: "a", type: "text/plain", size: 5 };
    const { url } = (await server.request("/v1/uploads", { body: announcement, key })).body;
    const put = `PUT ${url.slice(server.url.length)}`;
    return {
      create: await beginRequest("POST /notes", json, JSON.stringify({ title: "late" })),
      graphql: await beginRequest("POST /graphql", json, query),
      "first file": await beginRequest("POST /notes", form, `${title}${part}abc\r\n--b--`),
      "rest of a file": await beginRequest(
        "POST /notes",
        form,
        `${title}${part}abc\r\n--b--`,
        title.length + part.length + 1,
      ),
      announcement: await beginRequest("POST /v1/uploads", json, JSON.stringify(announcement)),
      upload: await beginRequest(put, { "Content-Type": "text/plain" }, "hello", 2),
    };
  };

  test("late requests are refused, handlers and schedules write nothing, and no file remains", async () => {
    const [doomed, later] = [
      await makeTenant(server.workspace, "*", { cwd }),
      await makeTenant(server.workspace, "*", { cwd }),
    ];
    const { tenants } = await command("tenant", "list");
    const { key } = doomed;
    const attachment = await uploadFile(
      server.portico,
      "notes",
      "attachment",
      textFile("a.txt", "text"),
      key,
    );
    await server.create("/notes", { title: "Attached", attachment }, { key });
    await uploadFile(server.portico, "notes", "attachment", textFile("b.txt", "text"), key);
    await called(`handler ${doomed.id}`);
    await write(`update job_schedules set next_run_at = '${past}'`);
    await called(`schedule ${tenants[0].id}`);
    waiting.get(`schedule ${tenants[0].id}`)!();
    await called(`schedule ${doomed.id}`);
    const late = await beginRequests(doomed);
    // The requests are authenticated, and what they have sent is received, before their bodies are complete.
    await sleep(500);

    for (const { id } of [doomed, later]) await command("tenant", "delete", id, "--confirm", "Another");
    const statuses: Record<string, string> = {};
    for (const [name, finish] of Object.entries(late)) statuses[name] = await finish();
    assert.deepEqual(statuses, {
      create: "401",
      graphql: "401",
      "first file": "401",
      "rest of a file": "404",
      announcement: "401",
      upload: "404",
    });
    for (const name of [`handler ${doomed.id}`, `schedule ${doomed.id}`]) waiting.get(name)!();
    const lastRun = async () => (await command("job", "list")).schedules[0].lastRun;
    for (let run = await lastRun(); run?.endedAt == null; run = await lastRun()) await sleep(50);
    assert.partialDeepStrictEqual(await lastRun(), { status: "failed", tenants: 2, failures: 1 });
    assert.match((await lastRun()).error, /The tenant was deleted/);
    // For a tenant that was deleted during the run, before its turn, nothing is called.
    assert.ok(!calls.some((call) => call.includes(later.id)), calls.join());
    while ((await storedFiles()).length > 0) await sleep(50);
    assert.deepEqual(contents(), []);
    // The handler is called no more: once its lease has ended, nothing of it is due.
    const count = calls.filter((call) => call.includes(doomed.id)).length;
    await sleep(7_000);
    assert.equal(calls.filter((call) => call.includes(doomed.id)).length, count);
    assert.deepEqual(await leftBehind(), []);
    assert.doesNotMatch(server.portico.output, /"level":50/);
  });
});
