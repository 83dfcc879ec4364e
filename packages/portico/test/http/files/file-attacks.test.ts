// Files and forms that are not what they should be. Whatever is refused leaves nothing behind.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { png, type SentFile, sendForm, textFile, uploadFile } from "../../support/files.ts";
import { RawConnection } from "../../support/raw-connection.ts";
import {
  type Answer,
  makeWorkspace,
  onEachDatabase,
  Portico,
  portico,
  type Workspace,
} from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/files");
const html = textFile("x.gif", "<!DOCTYPE html><script>alert(1)</script>", "image/gif");

onEachDatabase("hostile files", (database) => {
  let workspace: Workspace;
  let server: Portico;
  before(async () => {
    workspace = await makeWorkspace(database);
    server = await Portico.start(workspace, { cwd, env: { STORAGE_URL: `file:${workspace.folder}/files` } });
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });
  const rows = async (): Promise<number> =>
    (await server.request("/v1/notes?limit=100")).body.data.length as number;
  const raw = (body: string, type: string, headers: Record<string, string> = {}): Promise<Answer> =>
    server.request("/v1/notes", { body, headers: { "content-type": type, ...headers } });
  const chunked = async (body: string, type: string): Promise<{ status: number; text: string }> => {
    const connection = await RawConnection.open(server.url);
    const headers = { "Content-Type": type, Authorization: `Bearer ${server.key}` };
    connection.request("POST /v1/notes", { ...headers, "Transfer-Encoding": "chunked" });
    connection.socket.write(`${body.length.toString(16)}\r\n${body}\r\n`);
    await connection.until(/^HTTP/);
    connection.close();
    return { status: Number(connection.received.slice(9, 12)), text: connection.received };
  };
  const createKey = async (...words: readonly string[]): Promise<string> => {
    const command = ["key", "create", "--name", "K", "--json", ...words];
    const { stdout, stderr } = await portico(workspace, command, { cwd });
    assert.equal(stderr, "");
    return JSON.parse(stdout).key;
  };
  const incoming = (): string[] => readdirSync(`${workspace.folder}/files/incoming`);

  test("a file that its field does not allow is refused, with the field and the reason", async () => {
    const before = await rows();
    const large = textFile("l.txt", "x".repeat(1_000_001));
    const refused: readonly [SentFile | string, string, string, string][] = [
      [textFile("a.txt", "text"), "picture", "picture", "choice"],
      [
        { ...png("a.png"), bytes: Buffer.concat([png("").bytes, Buffer.alloc(1_000)]) },
        "picture",
        "picture",
        "max",
      ],
      [large, "attachment", "attachment", "max"],
      [html, "picture", "picture", "format"],
      [{ ...png("a.jpg"), type: "image/jpeg" }, "picture", "picture", "format"],
      [{ ...png("a.txt"), type: "text/plain" }, "attachment", "attachment", "format"],
      [textFile("a.pdf", "no pdf", "application/pdf"), "attachment", "attachment", "format"],
      [textFile("a", "x", "text/pl ain"), "attachment", "attachment", "format"],
      [png("a.png"), "title", "title", "unknown"],
      [png("a.png"), "stamp", "stamp", "unknown"],
      [png("a.png"), "unknown", "unknown", "unknown"],
      [png("a.png"), "__proto__", "__proto__", "unknown"],
      ["file_01m7yn3c9vebmr6w0p2gq4s5tn", "attachment", "attachment", "reference"],
      ["../../secret", "attachment", "attachment", "reference"],
      ["x", "stamp", "stamp", "read_only"],
      ["x", "stars", "stars", "type"],
    ];
    for (const [sent, part, field, issue] of refused) {
      const answer = await sendForm(server, "/v1/notes", { title: "T", [part]: sent });
      assert.equal(answer.status, 422, `${part} ${issue} ${answer.text}`);
      assert.ok(
        answer.body.error.details.some((each: object) => "field" in each && each.field === field),
        answer.text,
      );
      assert.ok(answer.text.includes(`"issue":"${issue}"`), answer.text);
    }
    assert.deepEqual([await rows(), incoming()], [before, []]);
  });

  test("a form that is broken is refused", async () => {
    const type = "multipart/form-data; boundary=b";
    const part = (head: string, value: string): string =>
      `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
    const bodies: readonly [string, string, number][] = [
      ["x", "multipart/form-data", 400],
      ["x", `multipart/form-data; boundary=${"b".repeat(300)}`, 400],
      ["", type, 400],
      ["no form", type, 400],
      [part('name="title"', "cut off"), type, 400],
      [part('name="attachment"; filename="a"', "cut off"), type, 400],
      [`${part('name="title"', "one")}${part('name="title"', "two")}--b--`, type, 422],
      [`${part('name="meta"\r\nContent-Type: application/json', "{")}--b--`, type, 400],
      [`${part('name="all"\r\nContent-Type: application/json', "[]")}--b--`, type, 400],
      [`${part('name="title"', "x".repeat(1_100_000))}--b--`, type, 413],
      [`${Array.from({ length: 2_100 }, (_, i) => part(`name="f${i}"`, "")).join("")}--b--`, type, 413],
      [
        `${Array.from({ length: 30 }, (_, i) => part(`name="attachment"; filename="${i}"`, "")).join("")}--b--`,
        type,
        413,
      ],
      ["x", "multipart/mixed; boundary=b", 415],
      [`${part('filename="a"', "no name")}--b--`, type, 400],
      [`${part("", "no name")}--b--`, type, 400],
      // What belongs to no part, and a file without a name.
      [`${"x".repeat(14e6)}\r\n--b--`, type, 413],
      [`--b--\r\n${"x".repeat(14e6)}`, type, 413],
      [part('name="picture"; filename=""', "x".repeat(14e6)), type, 413],
    ];
    for (const [body, contentType, status] of bodies) {
      // A large body does not tell its length.
      const answer = await (body.length > 2e6 ? chunked(body, contentType) : raw(body, contentType));
      assert.equal(answer.status, status, `${body.slice(0, 80)} ${answer.text.slice(0, 300)}`);
    }
    const gzip = await raw("x", type, { "content-encoding": "gzip" });
    assert.equal(gzip.status, 415);
    assert.equal((await sendForm(server, "/v1/plains", { title: "T" })).status, 415);
    assert.deepEqual(incoming(), []);
  });

  test("parts are read by the kinds of their fields", async () => {
    const form = new FormData();
    form.append("all", new Blob(['{"title":"T","stars":2}'], { type: "application/json" }));
    form.append("meta", '{"a":[1]}');
    form.append("picture", new Blob([]), "");
    const response = await fetch(`${server.url}/v1/notes`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}` },
      body: form,
    });
    assert.equal(response.status, 422, "a part with a file name is a file, whatever its type");
    const type = "multipart/form-data; boundary=b";
    const json =
      '--b\r\nContent-Disposition: form-data; name="all"\r\nContent-Type: application/json\r\n\r\n';
    const meta = '--b\r\nContent-Disposition: form-data; name="meta"\r\n\r\n{"a":[1]}\r\n';
    const empty = '--b\r\nContent-Disposition: form-data; name="picture"; filename=""\r\n\r\n\r\n';
    const created = await raw(`${json}{"title":"T","stars":2}\r\n${meta}${empty}--b--`, type);
    assert.equal(created.status, 201, created.text);
    const { title, stars, meta: value, picture } = created.body;
    assert.deepEqual([title, stars, value, picture], ["T", 2, { a: [1] }, null]);
  });

  test("a name loses what could harm, and is sent safely", async () => {
    const names: readonly [string, string][] = [
      ["../../etc/passwd", "passwd"],
      ["C:\\Users\\x\\a.txt", "a.txt"],
      ["..", "file"],
      [".htaccess", "htaccess"],
      [`${"n".repeat(300)}.txt`, `${"n".repeat(196)}.txt`],
      ["grü ß 日本 😀.txt", "grü ß 日本 😀.txt"],
      ["a\u202egpj.exe", "agpj.exe"],
      ['a"b;c%0d.txt', 'a"b;c%0d.txt'],
    ];
    for (const [sent, shown] of names) {
      const body = { resource: "notes", field: "attachment", name: sent, type: "text/plain", size: 1 };
      const { id, url } = (await server.request("/v1/uploads", { body })).body;
      await fetch(url, { method: "PUT", headers: { "content-type": "text/plain" }, body: "x" });
      const row = await server.request("/v1/notes", { body: { title: "T", attachment: id } });
      assert.equal(row.body.attachment.name, shown);
      const header = (await fetch(row.body.attachment.url)).headers.get("content-disposition")!;
      assert.match(
        header,
        /^attachment; filename="[\x20\x21\x23-\x5b\x5d-\x7e]*"; filename\*=UTF-8''[\w.~%!-]+$/,
      );
      assert.equal(decodeURIComponent(header.split("''")[1]!), shown);
    }
  });

  test("an upload belongs to whom announced it, to its field, and to one row", async () => {
    const attach = async (attachment: string, key?: string): Promise<string> => {
      const { status, body } = await server.request("/v1/notes", {
        body: { title: "T", attachment },
        ...(key !== undefined && { key }),
      });
      return status === 201 ? "attached" : `${status} ${body.error.details[0]?.issue}`;
    };
    const upload = (): Promise<string> => uploadFile(server, "notes", "attachment", textFile("a.txt", "x"));
    const command = async (...words: string[]) =>
      JSON.parse((await portico(workspace, [...words, "--json"], { cwd })).stdout);
    const { tenant } = await command("tenant", "create", "--name", "Other");
    const person = ["--name", "Eve", "--email", "eve@example.com", "--password", "correct horse battery"];
    const { user } = await command("user", "create", ...person);
    const scopes = ["--scopes", "notes:read,notes:write"];
    const others = [
      await createKey(...scopes, "--tenant", tenant.id),
      await createKey(...scopes, "--user", user.id),
    ];
    for (const key of others) assert.equal(await attach(await upload(), key), "422 reference");
    const used = await upload();
    assert.equal(await attach(used), "attached");
    assert.equal(await attach(used), "422 reference");
    const picture = await uploadFile(server, "notes", "picture", png("p.png"));
    assert.equal(await attach(picture), "422 reference");
    const body = { resource: "notes", field: "attachment", name: "a", type: "text/plain", size: 1 };
    const announced = (await server.request("/v1/uploads", { body })).body.id;
    assert.equal(await attach(announced), "422 reference");
    const both = await upload();
    const outcomes = await Promise.all([attach(both), attach(both), attach(both)]);
    assert.deepEqual(outcomes.sort(), ["422 reference", "422 reference", "attached"]);
  });

  test("an announcement is checked, and its address takes only what was announced, once", async () => {
    const valid = { resource: "notes", field: "attachment", name: "a", type: "text/plain", size: 5 };
    const refusals: readonly [object, number, string][] = [
      [{ ...valid, resource: "plains" }, 422, "resource"],
      [{ ...valid, resource: 1 }, 422, "resource"],
      [{ ...valid, field: "title" }, 422, "field"],
      [{ ...valid, field: "stamp" }, 422, "field"],
      [{ ...valid, field: "constructor" }, 422, "field"],
      [{ ...valid, size: 1_000_001 }, 422, "size"],
      [{ ...valid, size: -1 }, 422, "size"],
      [{ ...valid, size: 1e300 }, 422, "size"],
      [{ ...valid, type: "image" }, 422, "type"],
      [{ ...valid, name: "n".repeat(1_001) }, 422, "name"],
      [{ ...valid, more: 1 }, 422, "more"],
      [{}, 422, "resource"],
      [[], 422, ""],
    ];
    for (const [body, status, field] of refusals) {
      const answer = await server.request("/v1/uploads", { body });
      assert.deepEqual([answer.status, answer.body.error.details[0].field], [status, field], answer.text);
    }
    const readOnly = await createKey("--scopes", "notes:read");
    assert.equal((await server.request("/v1/uploads", { body: valid, key: readOnly })).status, 403);
    assert.equal((await server.request("/v1/uploads", { body: valid, key: null })).status, 401);
    const forbidden = await fetch(`${server.url}/v1/notes`, {
      method: "POST",
      headers: { authorization: `Bearer ${readOnly}`, "content-type": "multipart/form-data; boundary=b" },
      body: "--b--",
    });
    assert.equal(forbidden.status, 403);
    const { url } = (await server.request("/v1/uploads", { body: valid })).body;
    const put = async (to: string, body: string, type = "text/plain"): Promise<number> =>
      (await fetch(to, { method: "PUT", headers: { "content-type": type }, body })).status;
    assert.equal(await put(url.replace(/expires=\d+/, "expires=9999999999"), "hello"), 403);
    assert.equal(await put(url.replace("signature=", "signature=x"), "hello"), 403);
    assert.equal(await put(url.replace("/uploads/", "/files/"), "hello"), 405);
    assert.equal((await fetch(url.replace("/uploads/", "/files/"))).status, 403);
    assert.equal(await put(url, "hello", "text/html"), 415);
    assert.equal(await put(url, "hell"), 422);
    assert.equal(await put(url, "hello world"), 422);
    const outcomes = await Promise.all([put(url, "hello"), put(url, "hello"), put(url, "hello")]);
    assert.deepEqual(outcomes.sort(), [204, 409, 409]);
    assert.deepEqual(incoming(), []);
  });

  test("the address of an upload ends with whoever announced it, and a content with it", async () => {
    const command = async (...words: string[]) =>
      JSON.parse((await portico(workspace, [...words, "--json"], { cwd })).stdout);
    const person = [
      "--name",
      "Mallory",
      "--email",
      "mallory@example.com",
      "--password",
      "correct horse battery",
    ];
    const { user } = await command("user", "create", ...person);
    const scopes = ["--scopes", "notes:read,notes:write"];
    const key = (...words: string[]) => command("key", "create", "--name", "K", ...scopes, ...words);
    const [ofUser, revoked] = [await key("--user", user.id), await key()];
    const body = { resource: "notes", field: "attachment", name: "a", type: "text/plain", size: 5 };
    const send = async ({ url, headers }: { url: string; headers: Record<string, string> }) =>
      (await fetch(url, { method: "PUT", headers, body: "hello" })).status;
    const announce = async ({ key: credential }: { key: string }) =>
      (await server.request("/v1/uploads", { body, key: credential })).body;
    const uploads = [
      await announce(ofUser),
      await announce(ofUser),
      await announce(revoked),
      await announce(revoked),
    ];
    assert.deepEqual([await send(uploads[0]), await send(uploads[2])], [204, 204]);
    const row = { title: "T", attachment: uploads[2].id };
    const { body: note } = await server.request("/v1/notes", { body: row, key: revoked.key });
    assert.equal(
      (await server.request(`/users/${user.id}`, { method: "PATCH", body: { active: false } })).status,
      200,
    );
    assert.equal((await server.request(`/v1/api-keys/${revoked.id}`, { method: "DELETE" })).status, 204);
    assert.deepEqual([await send(uploads[1]), await send(uploads[3])], [403, 403]);
    const late = await server.request("/v1/notes", {
      body: { ...row, attachment: uploads[0].id },
      key: ofUser.key,
    });
    assert.equal(late.status, 401);
    // The address of a file is for anyone, until it expires.
    assert.equal(await (await fetch(note.attachment.url)).text(), "hello");
  });
});
