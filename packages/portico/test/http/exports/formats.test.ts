// Exports as CSV, compressed, and imported again.

import assert from "node:assert/strict";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { app } from "../../../src/declare/app.ts";
import {
  belongsTo,
  boolean,
  choice,
  integer,
  json,
  list,
  number,
  text,
  timestamp,
} from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { makeTenant, TestServer } from "../../support/scenario.ts";
import { type Answer, makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const places = resource("place", { fields: { name: text({ max: 50 }) } });
const things = resource("thing", {
  fields: {
    title: text({ max: 100 }),
    note: text({ max: 100, optional: true }),
    status: choice(["-new", "old"], { default: "old" }),
    amount: integer({ optional: true }),
    ratio: number({ optional: true }),
    isDone: boolean({ optional: true }),
    extra: json({ optional: true }),
    tags: list(text({ max: 20 }), { max: 5, default: [] }),
    dueAt: timestamp({ optional: true }),
    place: belongsTo(() => places, { optional: true }),
  },
  sort: ["title"],
});
const declared = app({ name: "Things", resources: [places, things] });

const rows = [
  { title: "=1+1", note: "", amount: -5, ratio: -0.25, isDone: true },
  { title: "'=x", note: 'a "quoted", text', tags: ["a,b", '"'], extra: { deep: ["é", null, 1.5] } },
  { title: "two\r\nlines", note: null, status: "-new", extra: "plain", dueAt: "2026-11-23T01:02:03.004Z" },
  { title: "@tab\t", isDone: false, extra: [], ratio: 1e21 },
  { title: "", amount: 0, extra: 0 },
];

onEachDatabase("formats of exports", (database) => {
  const server = new TestServer();
  let exported: Answer["body"][] = [];
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(server.workspace, declared);
    const { id: placeId } = await server.create("/places", { name: "+1, upper" });
    for (const row of rows) await server.create("/things", { ...row, placeId });
    await server.create("/things", { title: "none" });
    const ndjson = (await get("things")).body.toString();
    exported = ndjson
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });

  /** The response as it is sent; `fetch` would decompress it. */
  const get = async (path: string, headers: Record<string, string> = {}, key = server.portico.key) => {
    const url = `${server.url}/v1/exports/${path}`;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(url, { headers: { "X-API-Key": key, ...headers } }, resolve).once("error", reject);
      sent.end();
    });
    return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
  };
  const withoutOwn = ({ id: _, createdAt: __, updatedAt: ___, placeId: ____, ...row }: Answer["body"]) => row;

  test("are CSV by parameter or by Accept", async () => {
    for (const [path, accept] of [["things?format=csv"], ["things", "text/csv"]] as const) {
      const { headers, body } = await get(path, accept === undefined ? {} : { Accept: accept });
      assert.equal(headers["content-type"], "text/csv; charset=utf-8; header=present");
      assert.equal(headers["content-disposition"], 'attachment; filename="things.csv"');
      const names =
        "id,title,note,status,amount,ratio,isDone,extra,tags,dueAt,placeId,createdAt,updatedAt\r\n";
      assert.ok(body.toString().startsWith(names), body.toString().slice(0, 200));
    }
    const ndjson = await get("things?format=ndjson", { Accept: "text/csv, application/json" });
    assert.equal(ndjson.headers["content-type"], "application/x-ndjson; charset=utf-8");
    assert.equal((await get("things", { Accept: "image/png" })).status, 406);
  });

  test("as CSV have a column for each selected field", async () => {
    const { body } = await get("things?format=csv&fields=title,tags,place.name&sort=title&limit=2");
    const [, first, second] = exported.toSorted((one, other) => (one.title < other.title ? -1 : 1));
    const place = `${exported[0].placeId},"'+1, upper"`;
    assert.ok(first.title.startsWith("'=") && second.title.startsWith("="));
    const [empty] = exported.filter(({ title }) => title === "");
    assert.equal(
      body.toString(),
      `id,title,tags,place.id,place.name\r\n${empty.id},"",[],${place}\r\n${first.id},''=x,"[""a,b"",""\\""""]",${place}\r\n`,
    );
    const kept = await get("things?format=csv&fields=title&formulas=keep&sort=title&limit=2");
    assert.match(kept.body.toString(), /,'=x\r\n$/);
    assert.equal((await get("things?formulas=yes")).status, 422);
  });

  test("as CSV of no rows have the names only", async () => {
    const other = await makeTenant(server.workspace, "*");
    const { body } = await get("things?format=csv&fields=title", {}, other.key);
    assert.equal(body.toString(), "id,title\r\n");
  });

  test("are compressed as Accept-Encoding prefers it", async () => {
    const plain = (await get("things")).body;
    const codings = { gzip: gunzipSync, zstd: zstdDecompressSync };
    for (const [coding, decompress] of Object.entries(codings)) {
      const { headers, body } = await get("things", { "Accept-Encoding": `br, ${coding}, identity;q=0.5` });
      assert.equal(headers["content-encoding"], coding);
      assert.deepEqual(decompress(body), plain);
    }
    for (const accepted of ["br", "gzip;q=0, zstd;q=0", "identity, gzip;q=0.1", ""]) {
      const { headers, body } = await get("things", { "Accept-Encoding": accepted });
      assert.equal(headers["content-encoding"], undefined, accepted);
      assert.deepEqual(body, plain);
    }
  });

  test("are imported again as they were", async () => {
    for (const [format, type] of [
      ["ndjson", "application/x-ndjson"],
      ["csv", "text/csv"],
    ] as const) {
      const { key } = await makeTenant(server.workspace, "*");
      // Without the place, which another tenant does not have.
      const fields = Object.keys(withoutOwn(exported[0])).join(",");
      const { body } = await get(`things?format=${format}&fields=${fields}`);
      const imported = await server.request("/v1/imports/things?readOnly=ignore", {
        method: "POST",
        body: body.toString(),
        headers: { "content-type": type },
        key,
      });
      assert.deepEqual(imported.body, { created: exported.length, updated: 0, failed: 0, errors: [] });
      const again = (await get("things?sort=createdAt", {}, key)).body.toString().split("\n").slice(0, -1);
      const order = (row: object): string => JSON.stringify(row);
      assert.deepEqual(
        again.map((line) => order(withoutOwn(JSON.parse(line)))).sort(),
        exported.map((row) => order(withoutOwn(row))).sort(),
        format,
      );
    }
  });
});
