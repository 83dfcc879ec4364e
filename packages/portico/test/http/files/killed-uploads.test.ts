// Servers that are killed in the middle of uploads. What was acknowledged is served afterwards; nothing else remains.

import assert from "node:assert/strict";
import { existsSync, readdirSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openReader, writeDirectly } from "../../support/database-reader.ts";
import { sendForm, textFile, uploadFile } from "../../support/files.ts";
import { RawConnection } from "../../support/raw-connection.ts";
import { makeWorkspace, onEachDatabase, PorticoProcess, type Workspace } from "../../support/server.ts";

const cwd = join(import.meta.dirname, "../../fixtures/files");
const dayAgo = new Date(Date.now() - 25 * 60 * 60 * 1000);

onEachDatabase("uploads to a server that is killed", (database) => {
  let workspace: Workspace;
  let server: PorticoProcess;
  const start = async (key = ""): Promise<void> => {
    const env = { STORAGE_URL: `file:${workspace.folder}/files` };
    server = await PorticoProcess.start(workspace, { cwd, env, ...(key && { key }) });
  };
  before(async () => {
    workspace = await makeWorkspace(database);
    await start();
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });
  const incoming = (): string => join(workspace.folder, "files/incoming");
  const partial = (): string[] => (existsSync(incoming()) ? readdirSync(incoming()) : []);
  const stored = (): string[] =>
    readdirSync(`${workspace.folder}/files`, { recursive: true, encoding: "utf8" })
      .map((path) => basename(path))
      .filter((name) => name.startsWith("file_"))
      .sort();
  const rows = async (): Promise<readonly unknown[]> => {
    const reader = openReader(workspace.databaseUrl);
    const found = await reader.rows("select id, status from stored_files order by id");
    await reader.close();
    return found;
  };
  const announce = async (size: number): Promise<{ id: string; url: string }> => {
    const body = { resource: "notes", field: "attachment", name: "a", type: "text/plain", size };
    return (await server.request("/v1/uploads", { body })).body;
  };
  /** Sends the beginning of a body, until the server has written it to a file. */
  const sendPart = async (line: string, headers: Record<string, string>, body: string): Promise<void> => {
    const count = partial().length;
    const connection = await RawConnection.open(server.url);
    const authorization = { Authorization: `Bearer ${server.key}`, "Content-Length": "400000" };
    connection.request(line, { ...headers, ...authorization });
    connection.socket.write(body);
    while (partial().length === count) await sleep(10);
  };

  test("what was acknowledged is served, and the rest is deleted after an hour and a day", async () => {
    const { key } = server;
    const attached = await sendForm(server, "/v1/notes", {
      title: "A",
      attachment: textFile("a", "attached"),
    });
    const uploaded = await uploadFile(server, "notes", "attachment", textFile("u", "uploaded"));
    const cut = await announce(400_000);
    const put = `PUT ${cut.url.slice(server.url.length)}`;
    await sendPart(put, { "Content-Type": "text/plain" }, "x".repeat(1_000));
    const part = '--b\r\nContent-Disposition: form-data; name="attachment"; filename="a"\r\n\r\n';
    await sendPart("POST /v1/notes", { "Content-Type": "multipart/form-data; boundary=b" }, `${part}xxx`);
    await server.kill();
    assert.equal(partial().length, 2);

    await start(key);
    const path = `/v1/notes/${attached.body.id}`;
    const [row] = (await server.request("/v1/notes")).body.data;
    assert.equal(await (await fetch(row.attachment.url)).text(), "attached");
    assert.equal((await server.request("/v1/notes")).body.data.length, 1);
    // What was uploaded waits for a row, and an upload that was cut off can be sent again, to the new address of the server.
    const again = await fetch(cut.url.replace(/^http:\/\/[^/]+/, server.url), {
      method: "PUT",
      headers: { "content-type": "text/plain" },
      body: "x".repeat(400_000),
    });
    assert.equal(again.status, 204, await again.text());
    const changed = await server.request(path, { method: "PATCH", body: { attachment: uploaded } });
    assert.equal(await (await fetch(changed.body.attachment.url)).text(), "uploaded");

    await server.kill();
    for (const name of partial()) utimesSync(join(incoming(), name), dayAgo, dayAgo);
    const old = `update stored_files set changed_at = '${dayAgo.toISOString()}'`;
    await writeDirectly(workspace.databaseUrl, old);
    await start(key);
    while (partial().length > 0 || (await rows()).length > 1) await sleep(50);
    assert.deepEqual(await rows(), [[uploaded, "attached"]]);
    assert.deepEqual(stored(), [uploaded]);
  });

  test("a content that was stored when the server was killed, for a file removed meanwhile, is deleted", async () => {
    const { key } = server;
    const { id, url } = await announce(5);
    const sent = await fetch(url, {
      method: "PUT",
      headers: { "content-type": "text/plain" },
      body: "hello",
    });
    assert.equal(sent.status, 204);
    await server.kill();
    // As if it had been killed after the content was stored, and before that was recorded.
    await writeDirectly(
      workspace.databaseUrl,
      `update stored_files set status = 'cancelled', changed_at = '${dayAgo.toISOString()}' where id = '${id}'`,
    );
    await start(key);
    while (stored().includes(id) || (await rows()).length > 1) await sleep(50);
  });
});
