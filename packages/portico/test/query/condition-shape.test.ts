// Conditions of one shape share a statement, with other bound values.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { app } from "../../src/declare/app.ts";
import { belongsTo, text } from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { type Condition, conditionShape } from "../../src/query/condition.ts";
import { wholeRow } from "../../src/query/selection.ts";
import { compileGet } from "../../src/store/compile/get.ts";
import { postgresDialect } from "../../src/store/postgres/dialect.ts";
import { sqliteDialect } from "../../src/store/sqlite/dialect.ts";

const nodes: Resource = resource("node", {
  fields: {
    name: text({ max: 20 }),
    code: text({ max: 20, optional: true }),
    one: belongsTo((): Resource => nodes, { optional: true }),
    other: belongsTo((): Resource => nodes, { optional: true }),
  },
});
const model = buildModel(app({ name: "Graph", resources: [nodes] }), []).resource.get("node")!;
const attribute = (name: string) => model.attribute.get(name)!;

const { conditions } = fc.letrec<{ conditions: readonly Condition[]; condition: Condition }>((tie) => ({
  conditions: fc.array(tie("condition"), { maxLength: 3 }),
  condition: fc.oneof(
    { depthSize: "small" },
    fc.record({
      attribute: fc.constantFrom("name", "code", "oneId").map(attribute),
      operator: fc.constantFrom("in", "lt"),
      values: fc.array(fc.constantFrom("a", "b", null), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      attribute: fc.constantFrom("oneId", "otherId").map(attribute),
      operator: fc.constant("is"),
      conditions: tie("conditions"),
    }),
  ) as fc.Arbitrary<Condition>,
}));

for (const dialect of [sqliteDialect, postgresDialect]) {
  const compiled = (some: readonly Condition[]) => {
    const read = { resource: model, selection: wholeRow(model), id: "node_1", conditions: some };
    const { sql, bind } = compileGet(dialect, read, undefined);
    return {
      sql,
      bind: (others: readonly Condition[]) =>
        bind({ tenantId: "t", tenantNo: 1, read: { ...read, conditions: others } }),
    };
  };

  test(`conditions of one shape share a statement, and each matches its own values (${dialect.name})`, () => {
    const shapes = new Map<string, readonly Condition[]>();
    let matched = 0;
    fc.assert(
      fc.property(conditions, (some) => {
        const shape = conditionShape(some);
        const known = shapes.get(shape);
        shapes.set(shape, some);
        if (!known) return;
        matched += 1;
        const [one, other] = [compiled(known), compiled(some)];
        assert.equal(one.sql, other.sql);
        assert.deepEqual(one.bind(some), other.bind(some));
      }),
      { numRuns: 2_000 },
    );
    assert.ok(matched > 100, `only ${matched} were of a shape that was there before`);
  });
}
