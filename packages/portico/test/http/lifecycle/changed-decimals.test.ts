// Decimals, dates and ordered choices that are added, renamed, required and dropped while two versions serve.

import { deepEqual, rejects } from "node:assert/strict";
import { after, before, test } from "node:test";
import { choice, date, decimal, text } from "../../../src/declare/field.ts";
import { range } from "../../../src/declare/filter.ts";
import { resource } from "../../../src/declare/resource.ts";
import { migrate } from "../../../src/store/schema/migrate.ts";
import { onEachDatabase, type Portico } from "../../support/server.ts";
import { TwoVersions, tablesFor } from "../../support/two-versions.ts";

const levels = ["low", "high", "urgent"] as const;

const oldBills = resource("bill", {
  fields: {
    title: text({ max: 20 }),
    amount: decimal({ precision: 9, scale: 2 }),
    tip: decimal({ precision: 9, scale: 3, optional: true }),
    paidOn: date({ optional: true }),
    day: date({ default: "2026-01-31" }),
    level: choice(levels, { default: "low" }),
    note: decimal({ precision: 9, scale: 1, default: "1.5" }),
    noted: date({ default: "2026-02-28" }),
    rank: choice(levels, { ordered: true, default: "high" }),
  },
  filter: [range("level")],
  sort: ["amount", "level", "rank"],
});
const newBills = resource("bill", {
  fields: {
    title: text({ max: 20 }),
    total: decimal({ precision: 9, scale: 2, was: "amount" }),
    tip: decimal({ precision: 9, scale: 3, fill: "-0.5" }),
    paidOn: date({ fill: "2026-03-01" }),
    issuedOn: date({ default: "2026-01-31", was: "day" }),
    level: choice(levels, { default: "low", ordered: true }),
    note: decimal({ precision: 9, scale: 1, default: "1.5" }),
    noted: date({ default: "2026-02-28" }),
    rank: choice(levels, { ordered: true, default: "high" }),
    exact: decimal({ precision: 9, scale: 4, fill: ({ total }) => String(total) }),
    state: choice(levels, { ordered: true, fill: "urgent" }),
  },
  filter: [range("level"), range("tip"), range("paidOn"), range("state")],
  sort: ["total", "tip", "paidOn", "level", "exact", "state"],
});

onEachDatabase("changed decimals, dates and ordered choices", (database) => {
  let versions: TwoVersions;
  const titles = async (portico: Portico, query: string): Promise<string> => {
    const { body, text: answer } = await portico.request(`/bills?${query}`);
    return body.data?.map(({ title }: { title: string }) => title).join("") ?? answer;
  };
  const create = async (portico: Portico, body: object) => (await portico.request("/bills", { body })).body;
  before(async () => {
    versions = await TwoVersions.start(database, [oldBills], [newBills]);
  });
  after(() => versions?.stop());

  test("both versions read and write the same rows, and each sorts a choice in its own way", async () => {
    await create(versions.old, { title: "a", amount: "10", level: "urgent" });
    await create(versions.old, { title: "b", amount: "-9.5", tip: "2.125", paidOn: "2026-12-31" });
    const values = { total: "9.5", tip: "-1", paidOn: "2024-02-29", exact: "9.50009", state: "low" };
    const refused = await versions.new.request("/bills", { body: { title: "c", ...values, level: "high" } });
    deepEqual([refused.status, refused.body.error.details[0].field], [422, "exact"]);
    await create(versions.new, { title: "c", ...values, exact: "9.5", level: "high" });
    deepEqual(await titles(versions.old, "sort=amount"), "bca");
    deepEqual(await titles(versions.new, "sort=total"), "bca");
    deepEqual(await titles(versions.old, "sort=level"), "cba");
    deepEqual(await titles(versions.new, "sort=level&level[gt]=low"), "ca");
  });

  test("the migration fills rows exactly", async () => {
    await versions.migrate();
    const { body } = await versions.new.request(
      "/bills?sort=total&fields=title,total,tip,paidOn,issuedOn,exact,state",
    );
    deepEqual(
      body.data.map(({ id: _, ...row }: { id: string }) => Object.values(row).join(" ")),
      [
        "b -9.50 2.125 2026-12-31 2026-01-31 -9.5000 urgent",
        "c 9.50 -1.000 2024-02-29 2026-01-31 9.5000 low",
        "a 10.00 -0.500 2026-03-01 2026-01-31 10.0000 urgent",
      ],
    );
    deepEqual(await titles(versions.new, "sort=tip&tip[lt]=0"), "ca");
    deepEqual(await titles(versions.new, "sort=-paidOn&paidOn[lt]=2026-12-31"), "ac");
    deepEqual(await titles(versions.new, "sort=-createdAt&state[gt]=low"), "ba");
  });

  test("another scale is refused, and no row changes", async () => {
    for (const scale of [0, 3]) {
      const total = decimal({ precision: 9, scale, was: "amount" });
      const rescaled = resource("bill", { fields: { ...newBills.fields, total } });
      await rejects(
        migrate(versions.store, tablesFor([rescaled])),
        /^OperatorError: resource bill, field total: .* holds decimal_2, not decimal_\d; declare a new field/,
      );
    }
    deepEqual(await titles(versions.new, "sort=-total"), "acb");
  });

  test("dropped fields leave the other values as they are", async () => {
    const { note: _, noted: __, rank: ___, ...fields } = newBills.fields;
    const last = resource("bill", { fields, sort: ["total"] });
    const drops = ["note", "noted", "rank"].map((name) => ({
      name: `bills.${name}`,
      table: "bills",
      column: name,
    }));
    await migrate(versions.store, tablesFor([last]), { drops, isContraction: true });
    const { body } = await versions.new.request("/bills?sort=total&fields=total,tip,state");
    deepEqual(
      body.data.map(({ total, tip, state }: Record<string, string>) => `${total} ${tip} ${state}`),
      ["-9.50 2.125 urgent", "9.50 -1.000 low", "10.00 -0.500 urgent"],
    );
  });
});
