// portico explain: the statements that a GET runs, their plans, and the index that is missing.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import postgres from "postgres";
import { loadApp } from "../../../src/runtime/config.ts";
import { createServer, type PorticoServer } from "../../../src/server.ts";
import type { Statement } from "../../../src/store/database.ts";
import type { ExplainedStatement } from "../../../src/store/explain/explained-read.ts";
import {
  type CommandResult,
  makeWorkspace,
  onEachDatabase,
  portico,
  type Workspace,
} from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/library");

onEachDatabase("portico explain", (database) => {
  let workspace: Workspace;
  let server: PorticoServer;
  let shelfId: string;
  let bookId: string;
  const headers = (): Record<string, string> => ({ authorization: `Bearer ${server.sandboxKey}` });
  before(async () => {
    workspace = await makeWorkspace(database);
    server = await createServer(await loadApp(cwd), {
      databaseUrl: workspace.databaseUrl,
      port: 0,
      log: { write() {} },
    });
    await server.listen();
    shelfId = await create("/shelves", { name: "top" });
    bookId = await create("/books", { title: "Faust", genre: "drama", mac: 1 });
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  async function create(path: string, row: object): Promise<string> {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { ...headers(), "content-type": "application/json" },
      body: JSON.stringify(row),
    });
    return ((await response.json()) as { id: string }).id;
  }

  function run(...words: string[]): Promise<CommandResult> {
    return portico(workspace, ["explain", ...words], { cwd });
  }

  async function explained(...words: string[]): Promise<ExplainedStatement[]> {
    const { stdout, stderr } = await run(...words, "--json");
    assert.equal(stderr, "");
    return JSON.parse(stdout).statements;
  }

  /** The SQL that the server runs for a request, apart from that of its credential. */
  async function statementsOf(path: string, init?: RequestInit): Promise<string[]> {
    const recorded: string[] = [];
    const { query } = server.store.database;
    const recording = (statement: Statement<unknown>, input: unknown) => {
      if (statement.meanings?.includes("tenant")) recorded.push(statement.sql);
      return query.call(server.store.database, statement, input);
    };
    Object.assign(server.store.database, { query: recording });
    try {
      const response = await fetch(server.url + path, {
        ...init,
        headers: { ...headers(), ...init?.headers },
      });
      assert.equal(response.status, 200, await response.text());
    } finally {
      Object.assign(server.store.database, { query });
    }
    return recorded;
  }

  test("the statements are those that the server runs", async () => {
    const cursor = await nextCursor();
    for (const path of [
      "/books",
      "/v1/books?genre=drama&sort=title&limit=3",
      `/books?sort=-title&genre=drama&genre=prose&cursor=${cursor}`,
      "/books?q=fau&fields=title",
      "/books?pages[gte]=3&direction=backward",
      `/books/${bookId}`,
      "/loans?page=2&perPage=5&genre=prose",
      `/shelves/${shelfId}/copies`,
      `/shelves/${shelfId}/copies?genre=drama&sort=-price`,
      "/api-keys?fields=name,owner.email",
      "/users",
    ]) {
      const expected = await statementsOf(path);
      const actual = (await explained(path)).map(({ sql }) => sql);
      assert.ok(expected.length > 0);
      assert.deepEqual(
        expected.filter((sql) => !actual.includes(sql)),
        [],
        path,
      );
      assert.equal(actual[0], expected[0], path);
    }
  });

  async function nextCursor(): Promise<string> {
    await create("/books", { title: "Nathan", genre: "drama", mac: 2 });
    const response = await fetch(`${server.url}/books?sort=-title&genre=drama&genre=prose&limit=1`, {
      headers: headers(),
    });
    return ((await response.json()) as { pagination: { nextCursor: string } }).pagination.nextCursor;
  }

  test("the statements of a GraphQL query are those that the server runs", async () => {
    const query = `{ booksConnection(first: 3, filter: { genre: drama }) { edges { node { title } } } shelf(id: "${shelfId}") { name copies(first: 2) { title } } }`;
    const expected = await statementsOf("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    const actual = (await explained("--graphql", query)).map(({ sql }) => sql);
    assert.equal(expected.length, 2);
    assert.deepEqual(
      expected.filter((sql) => !actual.includes(sql)),
      [],
    );
  });

  test("a page along an index is a quick read, and has the names of the index and of the parameters", async () => {
    const [first] = await explained("/books?genre=drama&isLent=true&sort=-title");
    assert.deepEqual(
      [first!.resource, first!.speed, first!.reason, first!.declare],
      ["book", "quick", null, null],
    );
    assert.deepEqual(
      first!.parameters.filter((meaning) => !/^bytes|^limit/.test(meaning)),
      ["tenant", "genre", "isLent"],
    );
    if (database === "sqlite")
      assert.deepEqual(first!.indexes, ["portico_books_genre_is_lent_null_title_desc_id_desc"]);
    assert.ok(first!.plan.length > 0);
  });

  test("a page without an index is a slow read, with the index to declare", async () => {
    for (const [path, declare] of [
      ["/books?genre=drama&sort=-price", ["genre", "-price"]],
      ["/books?genre=drama&title=Faust", ["genre", "title", "-createdAt"]],
      [`/shelves/${shelfId}/copies?genre=drama&sort=price`, ["shelfId", "genre", "price"]],
      ["/books?sort=-pages,title", ["-pages", "title"]],
      ["/books?genre=drama&sort=-genre,createdAt", null],
      ["/books?sort=-genre,createdAt", ["-genre", "createdAt"]],
      [
        `/shelves/${shelfId}/copies?genre=drama&sort=-price,subtitle`,
        ["shelfId", "genre", "-price", "subtitle"],
      ],
      // The index of a filter is not read in parts, and an index holds one order of equal values.
      ["/books?genre=drama&pages[gte]=3", null],
      ["/books?genre=drama&sort=genre", null],
    ] as const) {
      const [first] = await explained(path);
      assert.equal(first!.speed, "slow", path);
      assert.deepEqual(first!.declare, declare, path);
      const { stdout } = await run(path);
      const shown = declare && `indexes: [[${declare.map((name) => `"${name}"`).join(", ")}]]`;
      assert.equal(/declare (indexes: \[\[.*\]\]) in /.exec(stdout)?.[1], shown ?? undefined, path);
    }
  });

  test("the other reasons of slow reads are named", async () => {
    await create("/books", { title: "Emilia", genre: "drama", mac: 3 });
    for (const [path, reason] of [
      // Both words are frequent, but no row contains both.
      ["/books?q=faust+emilia", "it searches"],
      ["/loans", "it counts the rows before the page"],
    ] as const)
      assert.equal((await explained(path))[0]!.reason, reason);
    const nested = "{ shelves(limit: 100) { copies(first: 100) { title } } }";
    const [first] = await explained("--graphql", nested);
    assert.equal(first!.reason, "it may return more than 1,000 rows, nested rows included");
  });

  test("an error is that of the server, in one line", async () => {
    for (const [words, message] of [
      [["/nothing"], "No resource is read at this path."],
      [["/books/book_1"], "There is no book with this id."],
      [["/books?colour=red"], "Unknown query parameter `colour`."],
      [["/books?cursor=x"], "The cursor is not valid for this request. Start again without a cursor."],
      [["/books?genre=x"], "`genre` must be one of drama, poetry, prose."],
      [["/%zz"], "The path has broken percent-encoding."],
      [["books"], "PATH is 'books'; it must begin with a slash: /v1/posts?limit=5"],
      [["--graphql", "{ nothing }"], 'Cannot query field "nothing" on type "Query".'],
      [["--graphql", "{ __typename }"], "the request reads no rows; name a list or a row, such as /v1/posts"],
      [
        ["--graphql", 'mutation { deleteBook(id: "x") { id } }'],
        "GET can run queries only. Send mutations with POST.",
      ],
      [
        ["/books", "--tenant", "tenant_x"],
        "there is no tenant tenant_x; portico tenant list shows those that exist",
      ],
    ] as const) {
      const { code, stdout, stderr } = await run(...words);
      assert.deepEqual([code, stdout, stderr], [1, "", `portico: ${message}\n`]);
    }
  });

  test("--analyze runs the statements", async () => {
    const [plain] = await explained("/books?q=fau");
    const [timed] = await explained("/books?q=fau", "--analyze");
    assert.doesNotMatch(plain!.plan.join("\n"), /Execution Time/);
    assert.match(timed!.plan.join("\n"), /Execution Time: [\d.]+ ms/);
  });

  if (database === "sqlite")
    test("it creates no file", async () => {
      const file = join(workspace.folder, "other.db");
      const { code, stderr } = await portico({ databaseUrl: `file:${file}` }, ["explain", "/books"], { cwd });
      assert.deepEqual(
        [code, stderr],
        [
          1,
          `portico: the database file ${file} cannot be read: unable to open database file; see portico migrate\n`,
        ],
      );
      assert.equal(existsSync(file), false);
      const own = join(workspace.folder, "portico.db");
      const content = (): string => hash("sha256", readFileSync(own));
      const before = content();
      await explained("/books", "--analyze");
      assert.equal(content(), before);
    });
  else
    test("a role that can only read is enough", async () => {
      const url = new URL(workspace.databaseUrl);
      const role = `reader_${url.pathname.slice(1)}`;
      const sql = postgres(workspace.databaseUrl, { max: 1, onnotice: () => {} });
      try {
        await sql.unsafe(
          `create role ${role} login password 'reader'; grant select on all tables in schema public to ${role}`,
        );
        url.username = role;
        url.password = "reader";
        const { code, stderr } = await portico(
          { databaseUrl: url.href },
          ["explain", "/books?q=x", "--analyze"],
          {
            cwd,
          },
        );
        assert.deepEqual([code, stderr], [0, ""]);
      } finally {
        await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
        await sql.end();
      }
    });
});
