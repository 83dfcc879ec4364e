// Decimals, dates and ordered choices in what code receives, subscriptions, imports and counts; and hostile values of them.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import {
  app,
  belongsTo,
  choice,
  count,
  date,
  decimal,
  type PolicyContext,
  range,
  resource,
  route,
  text,
  timestamp,
} from "portico";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { makeKey } from "../../support/keys.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const levels = ["low", "medium", "high"] as const;
const values = {
  total: decimal({ precision: 18, scale: 2 }),
  at: timestamp({ optional: true }),
  on: date({ optional: true }),
};

const shops = resource("shop", {
  fields: {
    name: text({ max: 20 }),
    cheap: count(() => orders, { where: { total: { lt: "10.0" } } }),
    urgent: count(() => orders, { where: { level: { gte: "medium" } } }),
  },
});
const orders = resource("order", {
  fields: {
    shop: belongsTo(() => shops, { optional: true }),
    code: decimal({ precision: 9, scale: 2, optional: true, unique: true }),
    level: choice(levels, { ordered: true, optional: true }),
    seen: text({ max: 200, default: "" }),
    ...values,
  },
  filter: [range("total"), range("on"), range("level"), "code", "shopId"],
  sort: ["total", "on", "level"],
  policy: ({ caller }: PolicyContext) => caller.role === "owner" || { total: { gte: "-9.5", lt: "10" } },
  actions: {
    stamps: {
      input: values,
      run: ({ rows, current, input }): Promise<{ id: string }> =>
        rows.update(orders, current.id, { seen: `${input.total} ${input.at} ${input.on}` }),
    },
  },
});
const totals = route("POST /v1/totals", { scope: null, input: values, answer: values }, ({ input }) => ({
  ...input,
  total: input.total === "12.50" ? "7" : "0",
}));
const declared = app({
  name: "Orders",
  resources: [shops, orders],
  routes: [totals],
  roles: { owner: "*", member: ["orders:read", "orders:write", "events:read"] },
});

onEachDatabase("decimals, dates and ordered choices in code", (database) => {
  const server = serve(database, { app: declared });
  const sent = { total: "12.5", at: "2026-11-21T10:30:00+01:00", on: "2026-11-21" };
  const at = "2026-11-21T09:30:00.000Z";

  test("actions and routes receive values in the form of rows", async () => {
    const { id } = await server.create("/orders", { total: "1" });
    const { body } = await server.request(`/orders/${id}/stamps`, { body: sent });
    equal(body.seen, `12.50 ${at} 2026-11-21`);
    const answer = await server.request("/v1/totals", { body: sent });
    deepEqual(answer.body, { total: "7.00", at, on: "2026-11-21" });
  });

  test("counts compare numbers and the order of choices", async () => {
    const { id: shopId } = await server.create("/shops", { name: "One" });
    for (const [total, level] of [
      ["9.5", "low"],
      ["10", "high"],
      ["-100", "medium"],
      ["9.99", null],
    ])
      await server.create("/orders", { shopId, total, level });
    const { body } = await server.request(`/shops/${shopId}?fields=cheap,urgent`);
    deepEqual([body.cheap, body.urgent], [3, 2]);
  });

  test("a subscription compares numbers", async () => {
    const { id: ownerId } = await server.create("/users", {
      ...{ name: "Bob", email: "bob@example.com", role: "member" },
    });
    const { key } = await makeKey(server, { ownerId, scopes: ["*"] });
    const stream = await TestStream.open(server.portico, "subscription { orderCreated { total } }", { key });
    try {
      for (const total of ["10.0", "-10", "-9.51", "9.5", "100", "-9.5", "9.99"])
        await server.create("/orders", { total });
      const events = await stream.results(3);
      deepEqual(
        events.map(({ data }: { data: { orderCreated: { total: string } } }) => data.orderCreated.total),
        ["9.50", "-9.50", "9.99"],
      );
    } finally {
      stream.close();
    }
  });

  test("an import finds the row of a number, however it is written", async () => {
    const headers = { "content-type": "text/csv" };
    for (const [code, total] of Object.entries({ "7.5": "1", "7.50": "-2.5" })) {
      const body = `code,total\r\n${code},${total}\r\n`;
      const path = "/v1/imports/orders?mode=upsert&by=code";
      const answer = await server.request(path, { method: "POST", headers, body });
      equal(answer.status, 200, answer.text);
    }
    const { body } = await server.request("/orders?code=7.500000000000000000");
    equal(body.error.details[0].field, "code");
    const found = await server.request("/orders?code=7.5");
    deepEqual(
      found.body.data.map(({ total }: { total: string }) => total),
      ["-2.50"],
    );
  });

  const digits = "9".repeat(500_000);
  const hostile: readonly unknown[] = [
    ...[null, true, 0, -1.5, 1e308, [], ["1"], {}, { total: "1" }, "", " ", digits, `-0.${digits}`],
    ...["\u0661\u0662", "\uff11", "1\u0000", "\ud800", "NaN", "-", "1e9", "constructor", "__proto__"],
    ...["2026-02-30", "0000-01-01", "10000-01-01", "-0001-01-01", "2026-11-21T25:00:00Z", "\u0662026-01-01"],
  ];

  test("no value of these fields makes the server fail", async () => {
    const failed: string[] = [];
    const expectNone = (name: string, answer: { status: number; text: string }): void => {
      if (answer.status >= 500 || answer.text.includes("internal_error"))
        failed.push(`${name}: ${answer.status} ${answer.text.slice(0, 200)}`);
    };
    for (const value of hostile) {
      const shown = JSON.stringify(value).slice(0, 30);
      const inQuery = encodeURIComponent(
        String(typeof value === "object" ? JSON.stringify(value) : value).toWellFormed(),
      ).slice(0, 8_000);
      const isLong = typeof value === "string" && value.length > 1000;
      for (const field of isLong ? ["total"] : ["total", "on", "level"]) {
        const name = `${field} ${shown}`;
        const body = { total: "1", [field]: value };
        expectNone(`body ${name}`, await server.request("/orders", { body }));
        expectNone(`route ${name}`, await server.request("/v1/totals", { body }));
        for (const operator of ["[gte]", "[in]"])
          expectNone(`filter ${name}`, await server.request(`/orders?${field}${operator}=${inQuery}`));
        const query = "mutation ($input: CreateOrderInput!) { createOrder(input: $input) { id } }";
        expectNone(
          `variable ${name}`,
          await server.request("/graphql", { body: { query, variables: { input: body } } }),
        );
        const literal = `{ ordersConnection(filter: { ${field}: ${JSON.stringify(value).slice(0, 100_000)} }) { edges { node { id } } } }`;
        expectNone(`literal ${name}`, await server.request("/graphql", { body: { query: literal } }));
        const line = `${JSON.stringify(body)}\n`;
        const headers = { "content-type": "application/x-ndjson" };
        expectNone(
          `import ${name}`,
          await server.request("/v1/imports/orders", { method: "POST", headers, body: line }),
        );
      }
      for (const sort of ["total", "on", "level"]) {
        const cursor = Buffer.from(JSON.stringify([value, "order_1"]))
          .toString("base64url")
          .slice(0, 8_000);
        expectNone(`cursor ${sort} ${shown}`, await server.request(`/orders?sort=${sort}&cursor=${cursor}`));
      }
    }
    deepEqual(failed, []);
  });
});
