// Files of rows over HTTP: uploaded by forms and by signed URLs, read by signed URLs, removed with their rows.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { basename, resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { png, sendForm, textFile, uploadFile } from "../../support/files.ts";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/files");

onEachDatabase("files", (database) => {
  let workspace: Workspace;
  let server: Portico;
  before(async () => {
    workspace = await makeWorkspace(database);
    const env = { STORAGE_URL: `file:${workspace.folder}/files` };
    server = await Portico.start(workspace, { cwd, env });
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });

  test("a form creates a row with a file, which its signed URL serves", async () => {
    const created = await sendForm(server, "/v1/notes", {
      title: "One",
      stars: "3",
      picture: png("dot.png"),
    });
    assert.equal(created.status, 201, created.text);
    const { picture, stars, attachment } = created.body;
    assert.deepEqual([stars, attachment], [3, null]);
    const { url, id, ...described } = picture;
    assert.deepEqual(described, { name: "dot.png", type: "image/png", size: 70 });
    const read = await fetch(url);
    assert.equal(read.status, 200);
    assert.equal(read.headers.get("content-type"), "image/png");
    assert.deepEqual(Buffer.from(await read.arrayBuffer()), png("").bytes);
    const row = await server.request(`/v1/notes/${created.body.id}`);
    assert.equal(row.body.picture.id, id);
    assert.equal(row.headers.get("etag"), created.headers.get("etag"));
  });

  test("an announced upload is put into a row", async () => {
    const announced = await server.request("/v1/uploads", {
      body: { resource: "notes", field: "attachment", name: "a.txt", type: "text/plain", size: 5 },
    });
    assert.equal(announced.status, 201, announced.text);
    const { id, url, method, headers } = announced.body;
    const sent = await fetch(url, { method, headers, body: "hello" });
    assert.equal(sent.status, 204, await sent.text());
    const created = await server.request("/v1/notes", { body: { title: "Two", attachment: id } });
    assert.equal(created.status, 201, created.text);
    assert.equal(created.body.attachment.id, id);
    const read = await fetch(created.body.attachment.url);
    assert.equal(await read.text(), "hello");
    assert.equal(
      read.headers.get("content-disposition"),
      `attachment; filename="a.txt"; filename*=UTF-8''a.txt`,
    );
  });

  test("ranges, conditions and HEAD", async () => {
    const content = "0123456789";
    const attachment = await uploadFile(server, "notes", "attachment", textFile("d.txt", content));
    const { url } = (await server.request("/v1/notes", { body: { title: "R", attachment } })).body.attachment;
    const tag = `"${attachment}"`;
    const get = (headers: Record<string, string>, method = "GET") => fetch(url, { method, headers });
    const ranges: readonly [string, number, string, string | null][] = [
      ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
      ["bytes=7-", 206, "789", "bytes 7-9/10"],
      ["bytes=-2", 206, "89", "bytes 8-9/10"],
      ["bytes=5-100", 206, "56789", "bytes 5-9/10"],
      ["bytes=-100", 206, content, "bytes 0-9/10"],
      ["bytes=3-1", 200, content, null],
      ["bytes=0-1,3-4", 200, content, null],
      ["lines=0-1", 200, content, null],
    ];
    for (const [range, status, body, contentRange] of ranges) {
      const answer = await get({ range });
      assert.deepEqual(
        [answer.status, await answer.text(), answer.headers.get("content-range")],
        [status, body, contentRange],
        range,
      );
    }
    for (const range of ["bytes=10-", "bytes=-0", "bytes=99-100"]) {
      const answer = await get({ range });
      assert.deepEqual([answer.status, answer.headers.get("content-range")], [416, "bytes */10"]);
      assert.equal(answer.headers.get("cache-control"), null);
      assert.equal(JSON.parse(await answer.text()).error.code, "range_not_satisfiable");
    }
    assert.equal((await get({ range: "bytes=0-3", "if-range": tag })).status, 206);
    assert.equal((await get({ range: "bytes=0-3", "if-range": '"other"' })).status, 200);
    assert.equal((await get({ "if-none-match": tag })).status, 304);
    const head = await get({ range: "bytes=0-3" }, "HEAD");
    assert.deepEqual([head.status, head.headers.get("content-length")], [200, "10"]);
    assert.equal((await get({}, "POST")).status, 405);
  });

  test("only images are shown, and nothing runs at this origin", async () => {
    const page = "<html><script>alert(1)</script>";
    const sent = [
      png("a.png"),
      textFile("a.html", page, "text/html"),
      textFile("a.svg", "<svg/>", "image/svg+xml"),
    ];
    const kinds: unknown[] = [];
    for (const each of sent) {
      const attachment = await uploadFile(server, "notes", "attachment", each);
      const { body } = await server.request("/v1/notes", { body: { title: "S", attachment } });
      const { headers } = await fetch(body.attachment.url);
      kinds.push(headers.get("content-disposition")!.split(";")[0]);
      assert.equal(headers.get("content-security-policy"), "sandbox; default-src 'none'");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.match(headers.get("cache-control")!, /^private, max-age=\d{3}, immutable$/);
    }
    assert.deepEqual(kinds, ["inline", "attachment", "attachment"]);
  });

  test("a form is repeated once with an Idempotency-Key", async () => {
    const send = (title: string, content: string) =>
      sendForm(
        server,
        "/v1/notes",
        { title, attachment: textFile("i.txt", content) },
        {
          headers: { "Idempotency-Key": "one" },
        },
      );
    const [first, again, other] = [await send("I", "same"), await send("I", "same"), await send("I", "else")];
    assert.deepEqual([first.status, again.status, other.status], [201, 201, 422]);
    assert.equal(again.body.id, first.body.id);
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    assert.equal(await (await fetch(again.body.attachment.url)).text(), "same");
  });

  test("an upload is announced once with an Idempotency-Key", async () => {
    const announce = (name: string, headers = { "Idempotency-Key": "announced" }) => {
      const body = { resource: "notes", field: "attachment", name, type: "text/plain", size: 5 };
      return server.request("/v1/uploads", { body, headers });
    };
    const all = await Promise.all(Array.from({ length: 10 }, () => announce("a.txt")));
    const first = all.find(({ status }) => status === 201)!;
    for (const { status, text, body } of all)
      if (status === 201) assert.equal(text, first.text);
      else assert.deepEqual([status, body.error.code], [409, "idempotency_in_progress"]);
    const again = await announce("a.txt");
    assert.deepEqual([again.status, again.text], [201, first.text]);
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    assert.equal((await announce("b.txt")).body.error.code, "idempotency_key_reused");
    const { url, method, headers } = again.body;
    assert.equal((await fetch(url, { method, headers, body: "hello" })).status, 204);
    const { body: note } = await server.request("/v1/notes", {
      body: { title: "Announced", attachment: again.body.id },
    });
    assert.equal(note.attachment.name, "a.txt");
  });

  test("a file that no row has any more is deleted", async () => {
    const contents = (): string[] =>
      readdirSync(`${workspace.folder}/files`, { recursive: true, encoding: "utf8" })
        .map((path) => basename(path))
        .filter((name) => name.startsWith("file_"));
    const { body: note } = await sendForm(server, "/v1/notes", {
      title: "D",
      attachment: textFile("1", "1"),
    });
    const path = `/v1/notes/${note.id}`;
    const child = await sendForm(server, `${path}/pictures`, { image: png("c.png") });
    const kept = await sendForm(server, path, { title: "E" }, { method: "PATCH" });
    assert.equal(kept.body.attachment.id, note.attachment.id);
    const same = { title: "F", attachment: note.attachment.id };
    const replaced = await server.request(path, { method: "PUT", body: same });
    assert.equal(replaced.body.attachment.id, note.attachment.id, replaced.text);
    const next = await sendForm(server, path, { attachment: textFile("2", "2") }, { method: "PATCH" });
    assert.equal((await fetch(note.attachment.url)).status, 404);
    assert.equal(await (await fetch(next.body.attachment.url)).text(), "2");
    const failed = await sendForm(
      server,
      path,
      { stars: "no", attachment: textFile("3", "3") },
      { method: "PATCH" },
    );
    assert.equal(failed.status, 422);
    const used = [next.body.attachment.id, child.body.image.id];
    assert.deepEqual(
      used.filter((id) => !contents().includes(id)),
      [],
    );
    assert.equal((await server.request(path, { method: "DELETE" })).status, 204);
    const gone = [...used, note.attachment.id];
    const { data } = (await server.request("/v1/notes?limit=100")).body;
    const rest = data.flatMap((each: Record<string, { id: string } | null>) =>
      [each.picture, each.attachment].flatMap((file) => file?.id ?? []),
    );
    // What the replayed and the refused requests have sent is deleted as well.
    while (contents().length > rest.length) await setTimeout(50);
    assert.deepEqual(
      contents().filter((id) => gone.includes(id)),
      [],
    );
    assert.deepEqual(contents().sort(), rest.sort());
    for (const { url } of [next.body.attachment, child.body.image])
      assert.equal((await fetch(url)).status, 404);
  });
});
