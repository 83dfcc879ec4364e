// Storages of files: S3, storages that fail, uploads that are cut off.

import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { deleteLeftovers } from "../../../src/files/received-content.ts";
import { S3Storage } from "../../../src/files/s3-storage.ts";
import { openReader } from "../../support/database-reader.ts";
import { png, sendForm, textFile, uploadFile } from "../../support/files.ts";
import { RawConnection } from "../../support/raw-connection.ts";
import { S3Server } from "../../support/s3-server.ts";
import {
  makeWorkspace,
  onEachDatabase,
  onOneDatabase,
  Portico,
  portico,
  type Workspace,
} from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/files");
const secret = "a/secret+key with @ signs";

onOneDatabase("files in S3-compatible storage", (database) => {
  let workspace: Workspace;
  let server: Portico;
  let s3: S3Server;
  before(async () => {
    workspace = await makeWorkspace(database);
    s3 = await S3Server.start(secret);
    const user = `key:${encodeURIComponent(secret)}`;
    const env = { STORAGE_URL: `s3+http://${user}@127.0.0.1:${s3.port}/bucket?region=eu-central-1` };
    server = await Portico.start(workspace, { cwd, env });
  });
  after(async () => {
    await server.stop();
    await s3.stop();
    await workspace.remove();
  });

  test("contents are stored, read in parts, and deleted with their rows", async () => {
    const created = await sendForm(server, "/v1/notes", { title: "S3", picture: png("a.png") });
    assert.equal(created.status, 201, created.text);
    const attachment = await uploadFile(server, "notes", "attachment", textFile("a.txt", "0123456789"));
    const path = `/v1/notes/${created.body.id}`;
    const row = await server.request(path, { method: "PATCH", body: { attachment } });
    const { url } = row.body.attachment;
    assert.equal(await (await fetch(url)).text(), "0123456789");
    assert.equal(await (await fetch(url, { headers: { range: "bytes=2-4" } })).text(), "234");
    assert.deepEqual([...s3.objects.keys()], [`/bucket/${row.body.picture.id}`, `/bucket/${attachment}`]);
    await server.request(path, { method: "DELETE" });
    while (s3.objects.size > 0) await setTimeout(50);
    assert.deepEqual(s3.refused, []);
  });

  test("a storage that fails is 503, and nothing is written", async () => {
    const { body } = await sendForm(server, "/v1/notes", {
      title: "Kept",
      attachment: textFile("k", "kept"),
    });
    s3.failure = 403;
    const refused = await sendForm(server, "/v1/notes", { title: "Lost", picture: png("a.png") });
    const read = await fetch(body.attachment.url);
    s3.failure = undefined;
    assert.deepEqual([refused.status, refused.body.error.code], [503, "unavailable"]);
    assert.deepEqual([read.status, read.headers.get("cache-control")], [503, null]);
    const { data } = (await server.request("/v1/notes?fields=title")).body;
    assert.deepEqual(
      data.map(({ title }: { title: string }) => title),
      ["Kept"],
    );
    s3.objects.clear();
    assert.equal((await fetch(body.attachment.url)).status, 404);
  });

  test("a content that arrives in the storage after its upload was given up is deleted", async () => {
    const { promise, resolve: open } = Promise.withResolvers<void>();
    const { puts } = s3;
    s3.gate = promise;
    const connection = await RawConnection.open(server.url);
    const headers = {
      "Content-Type": "multipart/form-data; boundary=b",
      Authorization: `Bearer ${server.key}`,
    };
    const part = '--b\r\nContent-Disposition: form-data; name="attachment"; filename="a"\r\n\r\nx\r\n--b--';
    connection.request("POST /v1/notes", headers, part);
    while (s3.puts === puts) await setTimeout(10);
    connection.reset();
    const reader = openReader(workspace.databaseUrl);
    const waiting = (status: string) => reader.rows(`select 1 from stored_files where status = '${status}'`);
    // The file is known until its content can come no more.
    while ((await waiting("cancelled")).length === 0) await setTimeout(50);
    open();
    s3.gate = undefined;
    await promise;
    while (s3.objects.size === 0) await setTimeout(10);
    while (s3.objects.size > 0) await setTimeout(10);
    while ((await waiting("removed")).length > 0) await setTimeout(50);
    assert.deepEqual(await waiting("cancelled"), []);
    await reader.close();
  });
});

onEachDatabase("uploads that fail", (database) => {
  let workspace: Workspace;
  let server: Portico;
  const folder = (): string => join(workspace.folder, "files");
  before(async () => {
    workspace = await makeWorkspace(database);
    const env = { STORAGE_URL: `file:${folder()}`, PORTICO_STORAGE_LIMIT: "2" };
    server = await Portico.start(workspace, { cwd, env });
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });
  const files = async (): Promise<readonly unknown[]> => {
    const reader = openReader(workspace.databaseUrl);
    const rows = await reader.rows("select status from stored_files where status <> 'attached'");
    await reader.close();
    return rows;
  };

  test("an upload that is cut off leaves nothing behind", async () => {
    const body = { resource: "notes", field: "attachment", name: "a", type: "text/plain", size: 500_000 };
    const { id, url } = (await server.request("/v1/uploads", { body })).body;
    const part = '--b\r\nContent-Disposition: form-data; name="attachment"; filename="a"\r\n\r\n';
    const requests: readonly [string, Record<string, string>, string][] = [
      [`PUT ${url.slice(server.url.length)}`, { "Content-Type": "text/plain" }, "x".repeat(1_000)],
      ["POST /v1/notes", { "Content-Type": "multipart/form-data; boundary=b" }, part + "x".repeat(1_000)],
    ];
    for (const [line, headers, start] of requests) {
      const connection = await RawConnection.open(server.url);
      const authorization = { Authorization: `Bearer ${server.key}`, "Content-Length": "400000" };
      connection.request(line, { ...headers, ...authorization });
      connection.socket.write(start);
      while (!existsSync(join(folder(), "incoming")) || readdirSync(join(folder(), "incoming")).length === 0)
        await setTimeout(10);
      connection.reset();
      while (readdirSync(join(folder(), "incoming")).length > 0) await setTimeout(10);
    }
    // What was announced can be sent again; what came with the form is removed.
    while ((await files()).length > 1) await setTimeout(50);
    const sent = await fetch(url, {
      method: "PUT",
      headers: { "content-type": "text/plain" },
      body: "x".repeat(500_000),
    });
    assert.equal(sent.status, 204, await sent.text());
    const row = await server.request("/v1/notes", { body: { title: "T", attachment: id } });
    assert.equal(row.status, 201, row.text);
  });

  test("the files of a tenant are bounded, and deleted with it", async () => {
    const body = { resource: "notes", field: "attachment", name: "a", type: "text/plain", size: 1_000_000 };
    const command = async (...words: string[]) => {
      const { stdout, stderr } = await portico(workspace, [...words, "--json"], { cwd });
      assert.equal(stderr, "");
      return JSON.parse(stdout);
    };
    const { tenant } = await command("tenant", "create", "--name", "Other");
    const words = ["--name", "K", "--scopes", "notes:read,notes:write", "--tenant", tenant.id];
    const { key } = await command("key", "create", ...words);
    assert.equal((await server.request("/v1/uploads", { body, key })).status, 201);
    const id = await uploadFile(server, "notes", "attachment", textFile("t", "tenant"), key);
    assert.equal(
      (await server.request("/v1/notes", { body: { title: "T", attachment: id }, key })).status,
      201,
    );
    const refused = await server.request("/v1/uploads", { body, key });
    assert.deepEqual([refused.status, refused.body.error.code], [413, "payload_too_large"]);
    const content = join(folder(), id.slice(-2), id);
    assert.ok(existsSync(content));
    await command("tenant", "delete", tenant.id, "--confirm", "Other");
    while (existsSync(content)) await setTimeout(50);
    while ((await files()).length > 0) await setTimeout(50);
  });

  test("forms that arrive at once do not exceed the bound together", async () => {
    const file = textFile("a", "x".repeat(900_000));
    const forms = Array.from({ length: 4 }, () =>
      sendForm(server, "/v1/notes", { title: "Large", attachment: file }),
    );
    const answers = await Promise.all(forms);
    const created = answers.filter(({ status }) => status === 201);
    assert.ok(created.length < answers.length && answers.every(({ status }) => [201, 413].includes(status)));
    for (const { body } of created) await server.request(`/v1/notes/${body.id}`, { method: "DELETE" });
    while ((await files()).length > 0) await setTimeout(50);
  });

  test("a content that cannot be deleted does not keep the others, nor a folder that is gone the error", async () => {
    const paths: string[] = [];
    for (const name of ["bad", "good"]) {
      const { body } = await sendForm(server, "/v1/notes", { title: "T", attachment: textFile(name, name) });
      const { id } = body.attachment;
      paths.push(join(folder(), id.slice(-2), id));
      if (name === "bad") {
        rmSync(paths[0]!);
        mkdirSync(paths[0]!);
      }
      await server.request(`/v1/notes/${body.id}`, { method: "DELETE" });
    }
    while (existsSync(paths[1]!)) await setTimeout(50);
    rmSync(paths[0]!, { recursive: true });
    renameSync(folder(), `${folder()}-away`);
    writeFileSync(folder(), "");
    const refused = await sendForm(server, "/v1/notes", { title: "T", attachment: textFile("a", "a") });
    rmSync(folder());
    renameSync(`${folder()}-away`, folder());
    assert.equal(refused.status, 503);
    while ((await files()).length > 0) await setTimeout(50);
  });

  test("what a crash has left of an upload is deleted later, and no other", async () => {
    const incoming = join(folder(), "incoming");
    mkdirSync(incoming, { recursive: true });
    for (const name of ["old", "new"]) writeFileSync(join(incoming, name), "part");
    const hourAgo = Date.now() / 1000 - 3_700;
    utimesSync(join(incoming, "old"), hourAgo, hourAgo);
    await deleteLeftovers(incoming);
    assert.deepEqual(readdirSync(incoming), ["new"]);
    await deleteLeftovers(join(folder(), "nowhere"));
  });
});

test("a folder of uploads to S3 that others can write to is refused", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "portico-folder-"));
  const before = process.env.TMPDIR;
  context.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true });
  });
  process.env.TMPDIR = folder;
  const storage = S3Storage.open("s3://key:secret@127.0.0.1/bucket");
  assert.equal(statSync(storage.incoming).mode & 0o777, 0o700);
  chmodSync(storage.incoming, 0o777);
  assert.throws(
    () => S3Storage.open("s3://key:secret@127.0.0.1/bucket"),
    /belongs to somebody else, or others/,
  );
  rmSync(storage.incoming, { recursive: true });
  symlinkSync(folder, storage.incoming);
  assert.throws(
    () => S3Storage.open("s3://key:secret@127.0.0.1/bucket"),
    /belongs to somebody else, or others/,
  );
});
