// Deployments over HTTP: their own scopes, and a filter by time ranges.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { expectAnswer, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("deployments", (database) => {
  interface Deployment {
    readonly id: string;
    readonly ref: string;
    readonly createdAt: string;
  }
  let projectId = "";
  let readKey = "";
  let writeKey = "";
  const deployments: Deployment[] = [];
  const server = serve(database, {
    prepare: async (at) => {
      projectId = (await at.create("/v1/projects", { name: "Ranged" })).id;
      for (const ref of ["a", "b", "c", "d"]) {
        deployments.push(await at.create("/v1/deployments", { projectId, ref }));
        // Each has its own timestamp, so that a range can end between two of them.
        await sleep(3);
      }
      const key = async (scope: string) =>
        (await at.command("key", "create", "--name", scope, "--scopes", scope)).key;
      readKey = await key("deploy:read");
      writeKey = await key("deploy:write");
    },
  });
  const refs = async (query: string): Promise<string> => {
    const { body, text } = await server.request(
      `/v1/deployments?projectId=${projectId}&sort=createdAt&${query}`,
    );
    assert.ok(Array.isArray(body.data), text);
    return body.data.map(({ ref }: Deployment) => ref).join("");
  };
  const at = (index: number) => encodeURIComponent(deployments[index]!.createdAt);

  test("a deployment starts as queued and without a URL", async () => {
    const created = await server.request("/v1/deployments", { body: { projectId, ref: "main" } });
    const { id } = created.body;
    expectAnswer(created, {
      status: 201,
      headers: { location: `/v1/deployments/${id}` },
      body: { projectId, ref: "main", status: "queued", url: null },
    });
    expectAnswer(await server.request(`/deployments/${id}`), { status: 200, body: created.body });
    expectAnswer(await server.request(`/v1/deployments/${id}`, { method: "DELETE" }), { status: 204 });
  });

  test("null and omission both reset the URL", async () => {
    const url = "https://example.com/a?b=c#d";
    const { id } = await server.create("/v1/deployments", { projectId, ref: "x", url });
    const path = `/v1/deployments/${id}`;
    expectAnswer(await server.request(path), { status: 200, body: { url } });
    expectAnswer(await server.request(path, { method: "PATCH", body: { url: null } }), {
      status: 200,
      body: { url: null },
    });
    await server.request(path, { method: "PATCH", body: { url } });
    expectAnswer(await server.request(path, { method: "PUT", body: { projectId, ref: "x" } }), {
      status: 200,
      body: { url: null },
    });
    await server.request(path, { method: "DELETE" });
  });

  test("the operators of a range include or exclude its ends", async () => {
    assert.equal(await refs(`createdAt[gte]=${at(1)}`), "bcd");
    assert.equal(await refs(`createdAt[gt]=${at(1)}`), "cd");
    assert.equal(await refs(`createdAt[lte]=${at(1)}`), "ab");
    assert.equal(await refs(`createdAt[lt]=${at(1)}`), "a");
    assert.equal(await refs(`createdAt[gt]=${at(0)}&createdAt[lt]=${at(3)}`), "bc");
    assert.equal(await refs(`createdAt=${at(2)}`), "c");
    assert.equal(await refs(`createdAt=${at(2)}&createdAt=${at(0)}`), "ac");
    assert.equal(await refs(`createdAt[gt]=${at(3)}`), "");
  });

  test("brackets may be percent-encoded", async () => {
    assert.equal(await refs(`createdAt%5Bgte%5D=${at(3)}`), "d");
  });

  test("a timestamp may be written in any time zone, and as a date", async () => {
    const inTokyo = new Date(Date.parse(deployments[1]!.createdAt) + 9 * 3_600_000)
      .toISOString()
      .replace("Z", "+09:00");
    assert.equal(await refs(`createdAt[gte]=${encodeURIComponent(inTokyo)}`), "bcd");
    assert.equal(await refs("createdAt[gte]=2020-01-01&createdAt[lt]=2100-01-01"), "abcd");
    assert.equal(await refs("createdAt[lt]=2020-01-01"), "");
  });

  test("a range continues from page to page", async () => {
    const path = `/v1/deployments?projectId=${projectId}&sort=createdAt&limit=2&createdAt[gte]=${at(1)}`;
    const first = await server.request(path);
    assert.deepEqual(
      first.body.data.map(({ ref }: Deployment) => ref),
      ["b", "c"],
    );
    const second = await server.request(`${path}&cursor=${first.body.pagination.nextCursor}`);
    assert.deepEqual(
      second.body.data.map(({ ref }: Deployment) => ref),
      ["d"],
    );
    assert.equal(second.body.pagination.hasMore, false);
  });

  test("deploy:read can read but not write", async () => {
    expectAnswer(await server.request("/v1/deployments", { key: readKey }), { status: 200 });
    const refused = await server.request("/v1/deployments", { key: readKey, body: { projectId, ref: "x" } });
    expectAnswer(refused, { status: 403, code: "insufficient_scope", message: /deploy:write/ });
  });

  test("deploy:write can write but not read", async () => {
    const created = await server.request("/v1/deployments", { key: writeKey, body: { projectId, ref: "w" } });
    expectAnswer(created, { status: 201 });
    const path = `/v1/deployments/${created.body.id}`;
    expectAnswer(await server.request(path, { key: writeKey }), {
      status: 403,
      code: "insufficient_scope",
      message: /deploy:read/,
    });
    expectAnswer(await server.request(path, { key: writeKey, method: "DELETE" }), { status: 204 });
  });

  const faulty = (field: string, issue: "format" | "unknown" | "duplicate" | "choice") =>
    ({ status: 422, code: "validation_error", details: [{ field, issue }] }) as const;
  scenarios(server, [
    {
      fact: "a range needs a date and time",
      path: "/v1/deployments?createdAt[gte]=soon",
      ...faulty("createdAt[gte]", "format"),
    },
    {
      fact: "a bare number is not a date",
      path: "/v1/deployments?createdAt[gte]=1",
      ...faulty("createdAt[gte]", "format"),
    },
    {
      fact: "a date in a national format is not an ISO 8601 date",
      path: "/v1/deployments?createdAt[lt]=11/21/2026",
      ...faulty("createdAt[lt]", "format"),
    },
    {
      fact: "an incomplete offset is refused",
      path: "/v1/deployments?createdAt[lt]=2026-11-21T09:30:00%2B2:00",
      ...faulty("createdAt[lt]", "format"),
    },
    {
      fact: "a date that does not exist is refused",
      path: "/v1/deployments?createdAt=2026-02-30",
      ...faulty("createdAt", "format"),
    },
    {
      fact: "an empty timestamp is refused",
      path: "/v1/deployments?createdAt=",
      ...faulty("createdAt", "format"),
    },
    {
      fact: "a range does not open the operators of texts",
      path: "/v1/deployments?createdAt[startsWith]=2026-01-01",
      ...faulty("createdAt[startsWith]", "unknown"),
    },
    {
      fact: "only fields declared with a range have one",
      path: "/v1/deployments?status[gte]=live",
      ...faulty("status[gte]", "unknown"),
    },
    {
      fact: "each end of a range may be set once",
      path: "/v1/deployments?createdAt[gt]=2026-01-01&createdAt[gt]=2027-01-01",
      ...faulty("createdAt[gt]", "duplicate"),
    },
    {
      fact: "a status filter must be one of the choices",
      path: "/v1/deployments?status=lost",
      ...faulty("status", "choice"),
    },
    {
      fact: "a deployment of a project that does not exist is refused",
      path: "/v1/deployments",
      body: { projectId: "project_00000000000000000000000000", ref: "main" },
      status: 422,
      details: [{ field: "projectId", issue: "reference" }],
    },
    {
      fact: "a URL must be valid, and a project must exist",
      path: "/v1/deployments",
      body: { projectId: "project_00000000000000000000000000", ref: "main", url: "not a url" },
      status: 422,
      details: [
        { field: "url", issue: "format" },
        { field: "projectId", issue: "reference" },
      ],
    },
  ]);
});
