// `portico migrate --drop` deletes the values of removed fields and the rows of removed resources, and nothing else.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase, Portico, portico } from "../../support/server.ts";

const [smaller, larger] = ["version-1", "version-2"].map((name) =>
  resolve(import.meta.dirname, "../../fixtures", name),
) as [string, string];

onEachDatabase("dropping what is no longer declared", (database) => {
  const server = serve(database, { cwd: larger });
  let store: Store;
  let article: { readonly id: string; readonly createdAt: string; readonly updatedAt: string };
  const migrate = (...words: string[]) => portico(server.workspace, ["migrate", ...words], { cwd: smaller });
  const tableNames = async (): Promise<string> => {
    const from =
      database === "sqlite" ? "sqlite_schema where type = 'table'" : "pg_class where relkind = 'r'";
    const name = database === "sqlite" ? "name" : "relname";
    const text = `select ${name} from ${from} order by 1`;
    return (await store.database.query({ sql: text, bind: () => [] }, undefined)).join();
  };

  before(async () => {
    const shop = await server.create("/shops", { name: "Corner" });
    const brand = await server.create("/brands", { name: "Acme" });
    const values = {
      name: "Pen",
      code: "p-1",
      shopId: shop.id,
      brandId: brand.id,
      note: "Blue",
      unit: "box",
    };
    const { id } = await server.create("/articles", values);
    const body = { note: "Black" };
    article = (await server.request(`/articles/${id}`, { method: "PATCH", body })).body;
    assert.ok(article.updatedAt > article.createdAt);
    await server.create("/parts", { name: "Cap", articleId: id });
    await server.portico.stop();
    store = await openStore(server.workspace.databaseUrl);
  });
  after(() => store?.database.close());

  const refused: readonly (readonly [fact: string, names: readonly string[], line: RegExp])[] = [
    [
      "a declared field",
      ["articles.name"],
      /the field name of article is declared; remove it from the declaration first/,
    ],
    ["a declared reference", ["articles.shop"], /the field shopId of article is declared/],
    ["the id", ["articles.id"], /the field id of article is declared/],
    ["the time of creation", ["articles.createdAt"], /the field createdAt of article is declared/],
    ["the time of the last update", ["articles.updatedAt"], /the field updatedAt of article is declared/],
    ["the tenant", ["articles.tenantId"], /belongs to the server itself|has no column/],
    ["the search words", ["articles.searchWords"], /the column belongs to the server itself/],
    ["a declared resource", ["articles"], /the resource article is declared; remove it/],
    ["a resource of the server", ["users"], /the resource user is declared/],
    ["a table of the server", ["events"], /belongs to the server itself/],
    ["a column of the server", ["events.row"], /belongs to the server itself/],
    ["an unknown field", ["articles.color"], /the table articles has no column color/],
    ["an unknown resource", ["wares"], /there is no table wares/],
    ["a field of an unknown resource", ["wares.name"], /there is no table wares of a resource/],
    [
      "a field of a removed resource",
      ["parts.name"],
      /no resource declares parts; drop it as a whole: --drop parts/,
    ],
    [
      "a table that a column refers to",
      ["brands"],
      /the column articles\.brand_id refers to it; drop articles\.brandId too/,
    ],
    ["a table of SQLite", ["sqlite_schema"], /there is no table sqlite_schema/],
    ["a catalogue of PostgreSQL", ["pg_class"], /there is no table pg_class/],
    ...[
      "",
      ".",
      "articles.",
      ".name",
      "a.b.c",
      'articles"; drop table shops; --',
      "articles.note; --",
      "articles.note'",
      "../articles",
    ].map(
      (name) => [`the name ${JSON.stringify(name)}`, [name], /is neither a field nor a resource/] as const,
    ),
    [
      "one of several that cannot be",
      ["articles.note", "articles.name"],
      /the field name of article is declared/,
    ],
  ];
  for (const [fact, names, line] of refused)
    test(`${fact} is not dropped`, async () => {
      const { code, stderr } = await migrate("--yes", ...names.flatMap((name) => ["--drop", name]));
      assert.equal(code, 1);
      assert.match(stderr, line);
      assert.doesNotMatch(stderr.trimEnd(), /\n/);
    });

  test("without a terminal, a drop needs --yes", async () => {
    const { code, stderr } = await migrate("--drop", "articles.note");
    assert.deepEqual(
      [code, stderr],
      [1, "portico: this deletes 1 values of the column articles.note; confirm it with --yes\n"],
    );
  });

  test("a dry run says what would be deleted, and deletes nothing", async () => {
    const { code, stdout } = await migrate("--dry-run", "--drop", "articles.note", "--drop", "parts");
    assert.equal(code, 0);
    assert.match(stdout, /alter table "articles" drop column "note";/);
    assert.match(stdout, /drop table "parts";/);
    assert.match(stdout, /-- This would delete 1 values of the column articles\.note\./);
    assert.match(stdout, /-- This would delete the table parts with 1 rows\./);
    assert.match(await tableNames(), /parts/);
  });

  test("columns, indexed columns and references are dropped, and other values stay", async () => {
    const drops = ["note", "unit", "isSold", "brand"].flatMap((name) => ["--drop", `articles.${name}`]);
    const { code, stdout, stderr } = await migrate("--yes", "--drop", "shops.city", ...drops);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Deleted 1 values of the column articles\.brand_id\./);
    assert.match(
      stdout,
      /-- The column articles\.weight belongs to no field\. It is kept; --drop articles\.weight deletes it\./,
    );
    const { code: again, stderr: line } = await migrate("--yes", "--drop", "articles.note");
    assert.deepEqual(
      [again, line],
      [1, "portico: --drop articles.note: the table articles has no column note\n"],
    );
  });

  test("a resource is dropped with its search index", async () => {
    const { code, stderr } = await migrate("--yes", "--drop", "brands", "--drop", "parts");
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(await tableNames(), /(^|,)(parts|brands)/);
  });

  test("the smaller version serves what is left", async () => {
    const { code, stderr } = await migrate("--contract");
    assert.equal(code, 0, stderr);
    const { key } = server.portico;
    const smallerServer = await Portico.start(server.workspace, { cwd: smaller, key });
    try {
      const { body } = await smallerServer.request(`/articles/${article.id}`);
      assert.deepEqual([body.name, body.code, body.size], ["Pen", "p-1", "small"]);
      assert.deepEqual([body.createdAt, body.updatedAt], [article.createdAt, article.updatedAt]);
      assert.equal((await smallerServer.request("/articles", { body: { name: "Ink" } })).status, 201);
      assert.equal((await smallerServer.request("/articles?q=ink")).body.data.length, 1);
      assert.equal((await smallerServer.request(`/shops/${body.shopId}`, { method: "DELETE" })).status, 409);
    } finally {
      await smallerServer.stop();
    }
  });
});
