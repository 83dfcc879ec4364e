// Decimals and dates over HTTP: exact values, their bounds, and what compares and sorts them.

import { deepEqual, doesNotMatch, equal, partialDeepStrictEqual } from "node:assert/strict";
import { test } from "node:test";
import { app, date, decimal, type PolicyContext, range, resource, text } from "portico";
import { makeKey } from "../../support/keys.ts";
import { expectAnswer, type Scenario, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

/** Members see some invoices only. */
const read = ({ caller }: PolicyContext) =>
  caller.role === "owner" || { total: { gte: "-1000" }, issuedOn: { lt: "3000-01-01" } };

const invoices = resource("invoice", {
  fields: {
    title: text({ max: 50, default: "" }),
    total: decimal({ precision: 18, scale: 2 }),
    discount: decimal({ precision: 5, scale: 4, min: "-1", max: "1", default: "0.5" }),
    code: decimal({ precision: 18, scale: 0, optional: true, unique: true }),
    rate: decimal({ precision: 18, scale: 18, optional: true }),
    issuedOn: date({ default: "today" }),
    dueOn: date({ optional: true, min: "2026-01-01", max: "2026-12-31" }),
  },
  filter: [range("total"), "code", range("dueOn"), "issuedOn"],
  sort: ["total", "dueOn"],
  policy: { read },
});
const declared = app({
  name: "Invoices",
  resources: [invoices],
  roles: { owner: "*", member: ["invoices:read", "invoices:write", "events:read"] },
});

onEachDatabase("decimals and dates", (database) => {
  const server = serve(database, { app: declared });
  const invoice = (body: object) => server.create("/invoices", { total: "1", ...body });
  const totals = async (query: string): Promise<string[]> => {
    const { body } = await server.request(`/invoices?fields=total&${query}`);
    return body.data.map(({ total }: { total: string }) => total);
  };
  const graphql = async (query: string, variables: object = {}) =>
    (await server.request("/graphql", { body: { query, variables } })).body;

  test("a decimal has all digits of its scale, and no other values than it was sent", async () => {
    const written = {
      ...{ "1": "1.00", "0": "0.00", "-0": "0.00", "-0.00": "0.00", "-0.05": "-0.05", "12.5": "12.50" },
      ...{ "9999999999999999.99": "9999999999999999.99", "-9999999999999999.99": undefined },
      ...{ "9007199254740993.01": "9007199254740993.01", "-999.9": "-999.90" },
    };
    for (const [sent, stored] of Object.entries(written)) {
      const created = await invoice({ total: sent });
      if (stored === undefined) continue;
      const { body } = await server.request(`/invoices/${created.id}`);
      deepEqual([created.total, body.total], [stored, stored], sent);
    }
    const { id } = await invoice({ rate: "-0.000000000000000001", code: "-999999999999999999" });
    const { body } = await server.request(`/invoices/${id}`);
    deepEqual([body.rate, body.code], ["-0.000000000000000001", "-999999999999999999"]);
  });

  test("defaults are exact, and a date is that of the present day in UTC", async () => {
    const created = await invoice({});
    deepEqual([created.discount, created.dueOn, created.code], ["0.5000", null, null]);
    equal(created.issuedOn, created.createdAt.slice(0, 10));
  });

  const text18 = "9".repeat(18);
  const refused: readonly (readonly [
    body: object,
    field: string,
    issue: "type" | "min" | "max" | "format",
  ])[] = [
    ...[12.5, 0, true, [], {}, null].map((total) => [{ total }, "total", "type"] as const),
    ...["", " 1", "1 ", "+1", "01", "-01", ".5", "5.", "1e5", "1,5", "1.005", "0x1", "Infinity", "NaN"].map(
      (total) => [{ total }, "total", "format"] as const,
    ),
    ...["--1", "1.2.3", "\u0661", "1\n"].map((total) => [{ total }, "total", "format"] as const),
    [{ total: "10000000000000000" }, "total", "max"],
    [{ total: "-10000000000000000" }, "total", "min"],
    [{ discount: "1.0001" }, "discount", "max"],
    [{ discount: "-1.0001" }, "discount", "min"],
    [{ code: `${text18}9` }, "code", "max"],
    [{ code: "1.0" }, "code", "format"],
    ...["2026-02-30", "2026-13-01", "2026-00-10", "2026-1-1", "0000-01-01", "20261121", "tomorrow", ""].map(
      (dueOn) => [{ dueOn }, "dueOn", "format"] as const,
    ),
    [{ dueOn: "2026-11-21T00:00:00Z" }, "dueOn", "format"],
    [{ dueOn: "+12026-11-21" }, "dueOn", "format"],
    [{ dueOn: 20261121 }, "dueOn", "type"],
    [{ dueOn: "2025-12-31" }, "dueOn", "min"],
    [{ dueOn: "2027-01-01" }, "dueOn", "max"],
  ];
  test("a value that is none is refused, by its field and issue", async () => {
    for (const [body, field, issue] of refused) {
      const answer = await server.request("/invoices", { body: { total: "1", ...body } });
      expectAnswer(answer, { status: 422, details: [{ field, issue }] });
    }
  });

  test("a text of any length is refused before it is read as a number", async () => {
    for (const total of ["9".repeat(500_000), `0.${"0".repeat(500_000)}1`, `-${"1".repeat(22)}`]) {
      const answer = await server.request("/invoices", { body: { total } });
      expectAnswer(answer, { status: 422, details: [{ field: "total", issue: "max" }] });
    }
  });

  test("a number is refused with the text to send", async () => {
    const answer = await server.request("/invoices", { body: { total: 12.5, dueOn: "2026-02-30" } });
    expectAnswer(answer, {
      status: 422,
      message:
        /^`total` must be a decimal with at most 2 digits after the point, as text: "99.99"\. `dueOn` must be a valid date\.$/,
    });
  });

  test("values compare and sort as numbers and days", async () => {
    for (const total of ["2", "10", "-3", "-20", "0.5"])
      await invoice({ title: "sorted", total, dueOn: "2026-05-05" });
    const of = "dueOn=2026-05-05";
    deepEqual(await totals(`${of}&sort=total`), ["-20.00", "-3.00", "0.50", "2.00", "10.00"]);
    deepEqual(await totals(`${of}&sort=-total&total[lt]=2.00&total[gte]=-3`), ["0.50", "-3.00"]);
    deepEqual(await totals(`${of}&total=10&total=0.50&sort=total`), ["0.50", "10.00"]);
    deepEqual(await totals(`${of}&total[in]=2.0,-20&sort=total`), ["-20.00", "2.00"]);
    deepEqual(await totals(`${of}&total[ne]=2&total[ne]=10&sort=total`), ["-20.00", "-3.00", "0.50"]);
    const many = Array.from({ length: 40 }, (_, index) => `${index}.5`).join();
    deepEqual(await totals(`${of}&total[in]=${many}`), ["0.50"]);
    const inGraphql = await graphql(
      `query ($at: Decimal!) {
        invoicesConnection(filter: { dueOn: "2026-05-05", totalGte: $at, NOT: { total: ["10.0", "2"] } }, sort: TOTAL_ASC) {
          edges { node { total dueOn } }
        }
      }`,
      { at: "-3.0" },
    );
    deepEqual(inGraphql.data.invoicesConnection.edges, [
      { node: { total: "-3.00", dueOn: "2026-05-05" } },
      { node: { total: "0.50", dueOn: "2026-05-05" } },
    ]);
  });

  const filters: readonly Scenario[] = [
    ...["total=1.005", "total[gte]=1e3", "total[in]=1,x", "dueOn=2026-02-30", "dueOn[lt]=now"].map(
      (query) => ({
        fact: `the filter ${query} is refused`,
        path: `/invoices?${query}`,
        status: 422,
        details: [{ field: query.split("=")[0]!, issue: "format" as const }],
      }),
    ),
  ];
  scenarios(server, filters);

  test("GraphQL takes texts, and refuses numbers and days that do not exist", async () => {
    const create = (input: string) =>
      graphql(`mutation { createInvoice(input: ${input}) { total dueOn issuedOn } }`);
    const created = await create('{ total: "7.5", dueOn: "2026-02-28", issuedOn: "2024-02-29" }');
    deepEqual(created.data.createInvoice, { total: "7.50", dueOn: "2026-02-28", issuedOn: "2024-02-29" });
    for (const input of ["{ total: 7.5 }", '{ total: "7,5" }', '{ total: "1", dueOn: "2026-02-29" }']) {
      const { errors } = await create(input);
      equal(errors[0].extensions.code, "validation_error", input);
    }
    const { errors } = await graphql(
      '{ invoicesConnection(filter: { total: "1.005" }) { edges { node { id } } } }',
    );
    deepEqual(errors[0].extensions.details, [{ field: "filter.total", issue: "format" }]);
  });

  test("the same number is not unique, however it is written", async () => {
    const { id } = await invoice({ code: "42" });
    const answer = await server.request("/invoices", { body: { total: "1", code: "42" } });
    expectAnswer(answer, { status: 409, details: [{ field: "code", issue: "duplicate" }] });
    const { body } = await server.request("/invoices?code=42");
    deepEqual(
      body.data.map((row: { id: string }) => row.id),
      [id],
    );
  });

  test("PATCH and PUT write the same forms, and the entity tag follows the value", async () => {
    const { id } = await invoice({ total: "3" });
    const path = `/invoices/${id}`;
    const before = await server.request(path);
    const changed = await server.request(path, {
      method: "PATCH",
      body: { total: "3.5", dueOn: "2026-03-01" },
    });
    deepEqual([changed.body.total, changed.body.dueOn], ["3.50", "2026-03-01"]);
    const match = { "if-match": String(before.headers.get("etag")) };
    expectAnswer(await server.request(path, { method: "PATCH", body: { total: "4" }, headers: match }), {
      status: 412,
    });
    const replaced = await server.request(path, { method: "PUT", body: { total: "-0.50" } });
    deepEqual([replaced.body.total, replaced.body.dueOn, replaced.body.discount], ["-0.50", null, "0.5000"]);
  });

  test("policies compare numbers: in the database, with a row that is written, and with that of an event", async () => {
    const { id: ownerId } = await server.create("/users", {
      name: "Bob",
      email: "bob@example.com",
      role: "member",
    });
    const { key } = await makeKey(server, { ownerId, scopes: ["*"] });
    const of = async (body: object): Promise<string> => (await invoice(body)).id;
    const [shown, ...hidden] = [
      await of({ total: "-1000" }),
      await of({ total: "-1000.01" }),
      await of({ total: "-20000" }),
      await of({ issuedOn: "3000-01-01" }),
    ];
    for (const id of hidden) expectAnswer(await server.request(`/invoices/${id}`, { key }), { status: 404 });
    const refused = await server.request("/invoices", { key, body: { total: "-1000.01" } });
    expectAnswer(refused, { status: 403 });
    const events = await server.request("/v1/events?limit=4", { key });
    const seen = new Map(events.body.data.map(({ data }: { data: { id: string } }) => [data.id, data]));
    partialDeepStrictEqual(seen.get(shown), { total: "-1000.00", discount: "0.5000" });
    deepEqual(
      hidden.filter((id) => seen.has(id)),
      [],
    );
  });

  test("an export can be imported, and is exact", async () => {
    const negative = await totals("sort=total&limit=100&total[lt]=0");
    for (const type of ["application/x-ndjson", "text/csv"]) {
      const headers = { "content-type": type, accept: type, authorization: `Bearer ${server.portico.key}` };
      const path = "/v1/exports/invoices?fields=total,rate,dueOn,issuedOn&total[lt]=0";
      const body = await (await fetch(server.url + path, { headers })).text();
      // A number is no formula, with a minus either.
      doesNotMatch(body, /'/);
      const url = `${server.url}/v1/imports/invoices?readOnly=ignore`;
      const imported = await fetch(url, { method: "POST", headers: { ...headers, accept: "*/*" }, body });
      equal(imported.status, 200, await imported.text());
    }
    const times = (total: string): string[] => Array.from({ length: 4 }, () => total);
    deepEqual(await totals("sort=total&limit=100&total[lt]=0"), negative.flatMap(times));
  });
});
