// Imports: a row for each line, with the checks, hooks, policies and events of a create of its own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ndjson, serveImports } from "../../support/imports.ts";
import { makeKey } from "../../support/keys.ts";
import { expectAnswer, scenarios } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("imports", (database) => {
  const server = serveImports(database);
  const send: typeof server.send = (...args) => server.send(...args);
  const count: typeof server.count = (query) => server.count(query);
  const member: typeof server.member = (name, role) => server.member(name, role);

  test("each line becomes a row, with its hooks and its event", async () => {
    const answer = await send("notes", [{ title: "one", count: 3 }, { title: "two" }]);
    expectAnswer(answer, { status: 200 });
    assert.deepEqual(answer.body, { created: 2, updated: 0, failed: 0, errors: [] });
    const { body } = await server.request("/notes?title=one");
    assert.partialDeepStrictEqual(body.data, [{ title: "one", count: 3, shout: "ONE" }]);
    const events = await server.request(`/v1/events?resourceId=${body.data[0].id}`);
    assert.partialDeepStrictEqual(events.body.data, [{ type: "note.created", data: body.data[0] }]);
  });

  test("a line that is refused is an error of its line, and the others are written", async () => {
    const answer = await send(
      "notes",
      [
        '{"title":"kept 1"}',
        "",
        "no json",
        '{"title":""}',
        '{"title":"kept 2","slug":"a"}',
        '{"title":"x","slug":"a"}',
        '{"title":"forbidden word"}',
        '{"title":"faulty"}',
        '["title"]',
        '{"title":"x","owner":"y"}',
        '{"title":"x","ownerId":"user_00000000000000000000000000"}',
        '{"title":"kept 3"}',
      ].join("\r\n"),
    );
    assert.equal(answer.status, 200, answer.text);
    const { created, failed, errors } = answer.body;
    assert.deepEqual([created, failed], [3, 8]);
    assert.deepEqual(
      errors.map(({ line, error }: { line: number; error: { code: string } }) => [line, error.code]),
      [
        [3, "malformed_request"],
        [4, "validation_error"],
        [6, "conflict"],
        [7, "conflict"],
        [8, "internal_error"],
        [9, "validation_error"],
        [10, "validation_error"],
        [11, "validation_error"],
      ],
    );
    assert.deepEqual(errors[1].error.details, [{ field: "title", issue: "min" }]);
    assert.equal(await count("title=kept 1&title=kept 2&title=kept 3&title=x"), 3);
  });

  test("422 if no line takes effect; 200 for no lines", async () => {
    const answer = await send("notes", [{ title: "" }, {}]);
    assert.equal(answer.status, 422);
    assert.partialDeepStrictEqual(answer.body, {
      error: { code: "validation_error" },
      created: 0,
      failed: 2,
    });
    assert.equal((await send("notes", "\n\n")).status, 200);
  });

  test("many groups are written, and 100 errors are listed", async () => {
    const rows = Array.from({ length: 503 }, (_, index) => ({ title: index % 2 ? "bulk" : "" }));
    const { body } = await send("notes", rows);
    assert.deepEqual([body.created, body.failed, body.errors.length], [251, 252, 100]);
    assert.equal(body.errors[99].line, 199);
  });

  test("policies hold for each line", async () => {
    const [ann, bob] = [await member("ann"), await member("bob")];
    const answer = await send("notes", [{ title: "mine" }, { title: "his", ownerId: bob.id }], {
      key: ann.key,
    });
    assert.deepEqual([answer.body.created, answer.body.failed], [1, 1]);
    assert.equal(await count("title=mine"), 1);
    assert.equal(await count("title=his"), 0);
    const { id } = (await server.request("/notes?title=one")).body.data[0];
    const nested = await send("note-lines", [{ noteId: id, body: "hidden parent" }], { key: ann.key });
    assert.equal(nested.body.errors[0].error.code, "not_found", nested.text);
  });

  test("rows with a parent name it in each line", async () => {
    const { id } = await server.create("/notes", { title: "parent" });
    const { body } = await send("note-lines", [
      { noteId: id, body: "1" },
      { body: "2" },
      { noteId: 3, body: "3" },
    ]);
    assert.equal(body.created, 1);
    assert.deepEqual(
      body.errors.map(({ error }: { error: { details: unknown } }) => error.details),
      [[{ field: "noteId", issue: "required" }], [{ field: "noteId", issue: "type" }]],
    );
    assert.equal((await server.request(`/notes/${id}/note-lines`)).body.data[0].body, "1");
  });

  test("mode=upsert updates the row that has the same value, and creates the others", async () => {
    const { id } = await server.create("/notes", { title: "before", slug: "up-1", count: 7 });
    const rows = [
      { slug: "up-1", title: "after" },
      { slug: "up-2", title: "new" },
      { slug: "up-2", title: "newer" },
    ];
    const { body } = await send("notes?mode=upsert&by=slug", [
      ...rows,
      { title: "none" },
      { slug: 5, title: "x" },
    ]);
    assert.deepEqual([body.created, body.updated, body.failed], [1, 2, 2]);
    assert.partialDeepStrictEqual((await server.request(`/notes/${id}`)).body, { title: "after", count: 7 });
    assert.equal((await server.request("/notes?slug=up-2")).body.data[0].title, "newer");
    const [stranger] = [await member("eve")];
    const hidden = await send("notes?mode=upsert&by=slug", [{ slug: "up-1", title: "stolen" }], {
      key: stranger.key,
    });
    assert.equal(hidden.body.errors[0].error.code, "conflict");
    assert.equal((await server.request(`/notes/${id}`)).body.title, "after");
  });

  test("atomic=true writes all lines or none", async () => {
    const rows = Array.from({ length: 40 }, (_, index) => ({
      title: `atom ${index}`,
      slug: `atom-${index}`,
    }));
    const refused = await send("notes?atomic=true", [...rows, { title: "" }]);
    assert.equal(refused.status, 422);
    assert.deepEqual([refused.body.created, refused.body.failed, refused.body.errors.length], [0, 41, 1]);
    assert.equal(await count("slug=atom-0&slug=atom-39"), 0);
    assert.deepEqual((await send("notes?atomic=true", rows)).body.created, 40);
    assert.equal(await count("slug=atom-0&slug=atom-39"), 2);
    const many = await send("notes?atomic=true", "{}\n".repeat(10_001));
    assert.deepEqual([many.status, many.body.error.code, many.body.created], [413, "payload_too_large", 0]);
  });

  test("dryRun=true says what would happen", async () => {
    const { status, body } = await send("notes?dryRun=true", [{ title: "dry", slug: "dry" }, { title: "" }]);
    assert.deepEqual([status, body.created, body.failed], [200, 1, 1]);
    assert.equal(await count("slug=dry"), 0);
  });

  test("readOnly=ignore takes rows as the API shows them", async () => {
    const row = await server.create("/notes", { title: "copy" });
    assert.equal((await send("notes", [row])).status, 422);
    assert.equal((await send("notes?readOnly=ignore", [row])).body.created, 1);
    assert.equal(await count("title=copy"), 2);
  });

  test("an export can be imported", async () => {
    await server.create("/notes", { title: "exported", extra: { a: [null, "ü"] } });
    const path = `${server.url}/v1/exports/notes?title=exported`;
    const response = await fetch(path, { headers: { authorization: `Bearer ${server.portico.key}` } });
    const { body } = await send("notes?readOnly=ignore", await response.text());
    assert.deepEqual([body.created, body.failed], [1, 0]);
    const [one, other] = (await server.request("/notes?title=exported")).body.data;
    const { id, createdAt, updatedAt } = one;
    assert.deepEqual({ ...other, id, createdAt, updatedAt }, one);
  });

  test("progress=true sends a line for each group, then the result", async () => {
    const response = await fetch(`${server.url}/v1/imports/notes?progress=true`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.portico.key}`, "content-type": ndjson },
      body: '{"title":"progress"}\n'.repeat(251),
    });
    assert.equal(response.headers.get("content-type"), ndjson);
    const sent = (await response.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      sent.map(({ progress, created }) => progress?.lines ?? { created }),
      [250, 251, { created: 251 }],
    );
  });

  test("CSV has the names in its first line", async () => {
    const csv = [
      "\ufefftitle,slug,count,isDone,extra,dueAt",
      'plain,csv-1,5,true,"{""a"":[1]}",2026-01-02T03:04:05Z',
      '"two\r\nlines, ""quoted""",,,,,',
      "short,csv-3",
      "'=formula,csv-4,x,false,,",
      "'=formula,csv-5,-1,false,,",
      "last,csv-6,1,maybe,,",
    ].join("\r\n");
    const { body } = await send("notes", csv, { type: "text/csv; charset=utf-8" });
    assert.deepEqual([body.created, body.failed], [3, 3], JSON.stringify(body));
    assert.deepEqual(
      body.errors.map(({ line }: { line: number }) => line),
      [5, 6, 8],
    );
    const [plain] = (await server.request("/notes?slug=csv-1")).body.data;
    assert.partialDeepStrictEqual(plain, {
      ...{ title: "plain", count: 5, isDone: true, extra: { a: [1] }, dueAt: "2026-01-02T03:04:05.000Z" },
    });
    assert.equal((await server.request("/notes?slug=csv-5")).body.data[0].title, "=formula");
    assert.equal(await count(`title=${encodeURIComponent('two\r\nlines, "quoted"')}`), 1);
    for (const broken of ["", "title,title\n1,2", 'title\n"open', 'title\n"a"b'])
      assert.equal((await send("notes", broken, { type: "text/csv" })).body.error.code, "malformed_request");
  });

  scenarios(server, [
    { fact: "a collection that is unknown is 404", path: "/v1/imports/nothing", method: "POST", status: 404 },
    {
      fact: "a collection whose rows nobody creates is 404",
      ...{ path: "/v1/imports/readings", method: "POST", status: 404 },
    },
    { fact: "the server's own collections are 404", path: "/v1/imports/users", method: "POST", status: 404 },
    {
      fact: "another media type is 415",
      ...{ path: "/v1/imports/notes", body: {}, status: 415, code: "unsupported_media_type" },
    },
    {
      fact: "a request without a body is 415",
      ...{ path: "/v1/imports/notes", method: "POST", status: 415, code: "unsupported_media_type" },
    },
    {
      fact: "all errors of the query are reported",
      path: "/v1/imports/notes?mode=upsert&atomic=maybe&what=1&readOnly=no",
      ...{ body: "{}", headers: { "content-type": ndjson }, status: 422, code: "validation_error" },
      details: [
        { field: "what", issue: "unknown" },
        { field: "by", issue: "required" },
        { field: "atomic", issue: "choice" },
        { field: "readOnly", issue: "choice" },
      ],
    },
    {
      fact: "rows are found by unique fields only",
      path: "/v1/imports/notes?mode=upsert&by=title",
      ...{ body: "{}", headers: { "content-type": ndjson }, status: 422 },
      details: [{ field: "by", issue: "choice" }],
      message: /`by` must be one of slug/,
    },
    {
      fact: "a request without a credential is 401",
      ...{
        path: "/v1/imports/notes",
        body: "{}",
        headers: { "content-type": ndjson },
        key: null,
        status: 401,
      },
    },
  ]);

  test("the scope to write the rows is required", async () => {
    const { key } = await makeKey(server, { scopes: ["notes:read"] });
    expectAnswer(await send("notes", "{}", { key }), { status: 403, code: "insufficient_scope" });
    const reader = await member("rea", "reader");
    expectAnswer(await send("notes", "{}", { key: reader.key }), { status: 403, code: "insufficient_scope" });
  });
});
