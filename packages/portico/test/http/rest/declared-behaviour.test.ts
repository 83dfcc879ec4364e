// Computed statuses, immutable fields, JSON with a schema and validate functions, over HTTP.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { expectAnswer, runCommand, serve, type TestServer } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/club");
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();
type Issue = "type" | "min" | "max" | "choice" | "required" | "unknown" | "read_only" | "duplicate";

onEachDatabase("declared behaviour", (database) => {
  const server = serve(database, { cwd });
  describe("computed statuses", () => states(server));
  describe("immutable fields", () => immutableFields(server));
  describe("JSON with a schema", () => schemas(server));
  describe("validate functions", () => checks(server));
});

const pass = (server: TestServer, body: object = {}) => server.create("/passes", { holder: "Ada", ...body });
const patch = (server: TestServer, id: string, body: unknown): Promise<Answer> =>
  server.request(`/passes/${id}`, { method: "PATCH", body });
const refused = (...details: [field: string, issue: Issue][]) =>
  ({ status: 422, details: details.map(([field, issue]) => ({ field, issue })) }) as const;

function states(server: TestServer): void {
  const stateOf = async (body: object): Promise<string> => (await pass(server, body)).status;

  test("a status is that of the first rule whose time has come, or else the last one", async () => {
    const [past, soon, later] = [inSeconds(-60), inSeconds(600), inSeconds(7_200)];
    for (const [times, state] of [
      [{}, "waiting"],
      [{ startsAt: later }, "waiting"],
      [{ startsAt: past }, "running"],
      [{ startsAt: past, endsAt: later }, "running"],
      [{ startsAt: past, endsAt: soon }, "ending"],
      [{ endsAt: soon }, "ending"],
      [{ startsAt: past, endsAt: inSeconds(-1) }, "ended"],
    ] as const)
      assert.equal(await stateOf(times), state, JSON.stringify(times));
    const { id } = await pass(server, { endsAt: past });
    await server.request(`/passes/${id}`, { method: "DELETE" });
    assert.equal((await server.request(`/passes/${id}`)).body.status, "cancelled");
  });

  test("a status changes over time, and filters follow it", async () => {
    const { id } = await pass(server, { holder: "Timed", startsAt: inSeconds(1) });
    const countByStatus = async (status: string) =>
      (await server.request(`/passes?holder=Timed&status=${status}`)).body.data.length;
    assert.deepEqual([await countByStatus("waiting"), await countByStatus("running")], [1, 0]);
    await sleep(1_050);
    assert.deepEqual([await countByStatus("waiting"), await countByStatus("running")], [0, 1]);
    assert.equal((await server.request(`/passes/${id}?fields=status`)).body.status, "running");
  });

  test("several statuses, and a status with another filter of several values, page through all rows once", async () => {
    const clubs = [
      await server.create("/clubs", { name: "A" }),
      await server.create("/clubs", { name: "B" }),
    ];
    const past = inSeconds(-60);
    for (const [index, times] of [{}, { startsAt: past }, { endsAt: past }, {}, { startsAt: past }].entries())
      await pass(server, { clubId: clubs[index % 2].id, ...times });
    const filter = `clubId=${clubs[0].id}&clubId=${clubs[1].id}&status=waiting&status=running`;
    for (const direction of ["forward", "backward"]) {
      const walked: string[] = [];
      for (let cursor = ""; ; ) {
        const { body } = await server.request(
          `/passes?${filter}&limit=1&fields=status&direction=${direction}${cursor}`,
        );
        walked.push(body.data[0].status);
        if (!body.pagination.hasMore) break;
        cursor = `&cursor=${direction === "forward" ? body.pagination.nextCursor : body.pagination.prevCursor}`;
      }
      assert.deepEqual(walked.sort(), ["running", "running", "waiting", "waiting"]);
    }
  });

  test("a status is read-only, filtered by its values, and never a sort field", async () => {
    expectAnswer(
      await server.request("/passes", { body: { holder: "x", status: "running" } }),
      refused(["status", "read_only"]),
    );
    expectAnswer(await server.request("/passes?status=old"), refused(["status", "choice"]));
    expectAnswer(await server.request("/passes?sort=status"), refused(["sort", "choice"]));
  });
}

function immutableFields(server: TestServer): void {
  test("an immutable field is accepted in POST and read_only in PATCH and PUT", async () => {
    const { id, tier, sponsorId } = await pass(server, { tier: "year" });
    assert.equal(tier, "year");
    for (const method of ["PATCH", "PUT"]) {
      const body = { holder: "Eve", tier: "year", sponsorId, slug: "eve" };
      expectAnswer(
        await server.request(`/passes/${id}`, { method, body }),
        refused(["tier", "read_only"], ["sponsorId", "read_only"], ["slug", "read_only"]),
      );
    }
  });

  test("PUT leaves an immutable field unchanged, whether its default is constant, the caller or computed", async () => {
    const user = await server.create("/users", { name: "Grace", email: "grace@example.com" });
    const { id } = await pass(server, { holder: "Grace", tier: "year", sponsorId: user.id });
    const { body } = await server.request(`/passes/${id}`, { method: "PUT", body: { holder: "Mary" } });
    assert.partialDeepStrictEqual(body, { holder: "Mary", tier: "year", slug: "grace", sponsorId: user.id });
  });

  test("PUT with a key without a user does not require a user that cannot be set", async () => {
    const run = (...words: string[]) => runCommand(server.workspace, words, { cwd });
    const { tenant } = await run("tenant", "create", "--name", "Nobody");
    const scopes = "passes:read,passes:write,users:write";
    const words = ["--name", "App", "--scopes", scopes, "--tenant", tenant.id];
    const { key } = await run("key", "create", ...words);
    const user = await server.create("/users", { name: "U", email: "u@example.com" }, { key });
    const { id } = await server.create("/passes", { holder: "x", sponsorId: user.id }, { key });
    const answer = await server.request(`/passes/${id}`, { method: "PUT", body: { holder: "y" }, key });
    expectAnswer(answer, { status: 200, body: { holder: "y", sponsorId: user.id } });
  });
}

function schemas(server: TestServer): void {
  const withMeta = (meta: unknown) => server.request("/passes", { body: { holder: "x", meta } });

  test("every error inside JSON is reported with its path", async () => {
    const meta = { colour: "blue", size: 0, marks: ["a", 1, "c"], inner: { deep: 1, more: 1 }, extra: 1 };
    expectAnswer(await server.request("/passes", { body: { holder: "", meta, tags: ["a", "a"] } }), {
      ...refused(
        ["holder", "min"],
        ["meta.colour", "choice"],
        ["meta.size", "min"],
        ["meta.marks", "max"],
        ["meta.marks.1", "type"],
        ["meta.inner.deep", "type"],
        ["meta.inner.more", "unknown"],
        ["meta.extra", "unknown"],
        ["tags", "duplicate"],
      ),
    });
    expectAnswer(await withMeta({}), refused(["meta.colour", "required"]));
    expectAnswer(await withMeta("red"), refused(["meta", "type"]));
    expectAnswer(await withMeta({ "a/b~c": 1, colour: "red" }), refused(["meta.a/b~c", "unknown"]));
    expectAnswer(await withMeta(null), { status: 201, body: { meta: null } });
  });

  test("PATCH merges first and then validates the whole against the schema", async () => {
    const { id } = await pass(server, { meta: { colour: "red", size: 3, inner: { deep: true } } });
    const merged = await patch(server, id, { meta: { size: null, marks: ["a"] } });
    assert.deepEqual(merged.body.meta, { colour: "red", inner: { deep: true }, marks: ["a"] });
    expectAnswer(await patch(server, id, { meta: { colour: null } }), refused(["meta.colour", "required"]));
    expectAnswer(
      await patch(server, id, { meta: { inner: { more: 1 } } }),
      refused(["meta.inner.more", "unknown"]),
    );
    assert.deepEqual((await patch(server, id, { meta: { inner: { deep: null } } })).body.meta.inner, {});
    assert.equal((await patch(server, id, { meta: null })).body.meta, null);
    expectAnswer(await patch(server, id, { meta: { size: 1 } }), refused(["meta.colour", "required"]));
    assert.deepEqual((await patch(server, id, { meta: { colour: "green" } })).body.meta, { colour: "green" });
  });

  test("PATCH reports errors of a merged member together with all others", async () => {
    const { id } = await pass(server, { meta: { colour: "red" } });
    expectAnswer(
      await patch(server, id, { holder: "", meta: { size: 0, extra: null, marks: 7 }, nothing: 1, tags: 5 }),
      refused(
        ["holder", "min"],
        ["meta.size", "min"],
        ["meta.extra", "unknown"],
        ["meta.marks", "type"],
        ["nothing", "unknown"],
        ["tags", "type"],
      ),
    );
  });

  test("a list is replaced, and validated against its schema as it is", async () => {
    const { id } = await pass(server, { tags: ["a", "b"] });
    assert.deepEqual((await patch(server, id, { tags: ["c"] })).body.tags, ["c"]);
    expectAnswer(await patch(server, id, { tags: ["c", "c"] }), refused(["tags", "duplicate"]));
    expectAnswer(await patch(server, id, { tags: null }), refused(["tags", "type"]));
  });
}

function checks(server: TestServer): void {
  const reversed = { startsAt: "2027-02-01T00:00:00Z", endsAt: "2027-01-01T00:00:00Z" };

  test("errors of validate are reported together with those of the schema", async () => {
    expectAnswer(
      await server.request("/passes", { body: { holder: "", tier: "month", ...reversed } }),
      refused(["holder", "min"], ["tier", "choice"], ["endsAt", "min"]),
    );
    expectAnswer(
      await server.request("/passes", { body: { holder: "nobody", ...reversed } }),
      refused(["holder", "choice"], ["endsAt", "min"]),
    );
  });

  test("validate does not receive values that are already invalid", async () => {
    expectAnswer(
      await server.request("/passes", { body: { holder: "x", startsAt: 7, endsAt: reversed.endsAt } }),
      refused(["startsAt", "type"]),
    );
    expectAnswer(await server.request("/passes", { body: "7" }), refused(["", "type"]));
  });

  test("validate receives the operation", async () => {
    const { id } = await pass(server);
    expectAnswer(await patch(server, id, { holder: "nobody" }), { status: 200 });
    const replaced = await server.request(`/passes/${id}`, {
      method: "PUT",
      body: { holder: "x", ...reversed },
    });
    expectAnswer(replaced, refused(["endsAt", "min"]));
    expectAnswer(await patch(server, id, reversed), refused(["endsAt", "min"]));
  });
}
