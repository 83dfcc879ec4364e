// Conditional requests (RFC 9110, section 13): entity tags, 304 and 412.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

onEachDatabase("conditional requests", (database) => {
  const server = serve(database);
  const createPost = async () => {
    const created = await server.request("/posts", { body: { title: "Tagged" } });
    return { path: `/posts/${created.body.id}`, tag: created.headers.get("etag")!, row: created.body };
  };
  const conditional = (
    path: string,
    method: string,
    header: "if-match" | "if-none-match",
    value: string,
  ): Promise<Answer> =>
    server.request(path, {
      method,
      headers: { [header]: value },
      ...(["PUT", "PATCH"].includes(method) && { body: { title: "Changed" } }),
    });
  const failed = { status: 412, code: "precondition_failed" } as const;

  test("a single row has a strong entity tag, the same for every way to read it", async () => {
    const { path, tag } = await createPost();
    assert.match(tag, /^"[\w-]+"$/);
    for (const way of [path, `/v1${path}`]) {
      expectAnswer(await server.request(way), { status: 200, headers: { etag: tag } });
      expectAnswer(await server.request(way, { method: "HEAD" }), { status: 200, headers: { etag: tag } });
    }
  });

  test("another selection of fields is another representation, with its own tag", async () => {
    const { path, tag } = await createPost();
    assert.notEqual((await server.request(`${path}?fields=title`)).headers.get("etag"), tag);
  });

  test("a write changes the tag, and its response has the new one", async () => {
    const { path, tag } = await createPost();
    for (const method of ["PATCH", "PUT"]) {
      const changed = await server.request(path, { method, body: { title: method } });
      assert.notEqual(changed.headers.get("etag"), tag);
      assert.equal((await server.request(path)).headers.get("etag"), changed.headers.get("etag"));
    }
  });

  for (const method of ["GET", "HEAD"]) {
    test(`${method} is 412 if If-Match names another representation than the requested one`, async () => {
      const { path, tag } = await createPost();
      for (const value of [tag, "*", `"other", ${tag}`])
        expectAnswer(await conditional(path, method, "if-match", value), { status: 200 });
      for (const value of ['"other"', `W/${tag}`]) {
        const answer = await conditional(path, method, "if-match", value);
        assert.deepEqual([answer.status, answer.headers.get("etag")], [412, tag]);
      }
    });

    test(`${method} is 304 without a body if the caller has the current representation`, async () => {
      const { path, tag } = await createPost();
      for (const value of [tag, `W/${tag}`, "*", `"other", ${tag}`, `"other",W/${tag}`]) {
        const answer = await conditional(path, method, "if-none-match", value);
        expectAnswer(answer, { status: 304, headers: { etag: tag, "content-type": null } });
        assert.equal(answer.text, "");
      }
    });

    test(`${method} is 200 if the caller does not have the current representation`, async () => {
      const { path, tag } = await createPost();
      for (const value of ['"other"', tag.replaceAll('"', ""), `${tag.slice(0, -1)}x"`, ""]) {
        expectAnswer(await conditional(path, method, "if-none-match", value), { status: 200 });
      }
    });
  }

  test("304 is no longer sent once the row has changed", async () => {
    const { path, tag } = await createPost();
    await server.request(path, { method: "PATCH", body: { title: "Changed" } });
    expectAnswer(await conditional(path, "GET", "if-none-match", tag), { status: 200 });
  });

  for (const method of ["PUT", "PATCH", "DELETE"]) {
    const done = { status: method === "DELETE" ? 204 : 200 };

    test(`${method} succeeds if the tag is current`, async () => {
      for (const value of [(tag: string) => tag, () => "*", (tag: string) => `"other" , ${tag}`]) {
        const { path, tag } = await createPost();
        expectAnswer(await conditional(path, method, "if-match", value(tag)), done);
      }
    });

    test(`${method} is 412 and changes nothing if the tag is another one`, async () => {
      const { path, tag, row } = await createPost();
      for (const value of ['"other"', `W/${tag}`, tag.replaceAll('"', ""), ""]) {
        const refused = await conditional(path, method, "if-match", value);
        expectAnswer(refused, { ...failed, headers: { etag: tag } });
      }
      assert.deepEqual((await server.request(path)).body, row);
    });

    test(`${method} with If-None-Match: * is 412, because the row exists`, async () => {
      const { path, row } = await createPost();
      expectAnswer(await conditional(path, method, "if-none-match", "*"), failed);
      assert.deepEqual((await server.request(path)).body, row);
    });

    test(`${method} of a row that does not exist is 404, whatever the tag`, async () => {
      const answer = await conditional("/posts/post_00000000000000000000000000", method, "if-match", '"x"');
      expectAnswer(answer, { status: 404, code: "not_found" });
    });
  }

  test("of two writes based on the same read, the second is refused", async () => {
    const { path, tag } = await createPost();
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((number) =>
        server.request(path, {
          method: "PATCH",
          body: { title: `Change ${number}` },
          headers: { "if-match": tag },
        }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412, 412]);
    const winner = answers.find(({ status }) => status === 200)!;
    assert.deepEqual((await server.request(path)).body, winner.body);
  });

  test("concurrent writes without a tag all succeed, each on top of the one before", async () => {
    const { path } = await createPost();
    const changes = [{ title: "T" }, { body: "B" }, { status: "archived" }];
    await Promise.all(changes.map((body) => server.request(path, { method: "PATCH", body })));
    expectAnswer(await server.request(path), {
      status: 200,
      body: { title: "T", body: "B", status: "archived" },
    });
  });
});
