// Isolation, operation by operation: every declared operation on another tenant's row responds as if the row did not
// exist.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceModel } from "../../../src/model/model.ts";
import { firstTenant } from "../../support/keys.ts";
import { expectAnswer, makeTenant, serve, type Tenant } from "../../support/scenario.ts";
import { type Answer, onEachDatabase, type RequestOptions } from "../../support/server.ts";
import { bodyOf, collectionOf, createAll, itemOf, model, type RowIds, resources } from "./isolation-rows.ts";

onEachDatabase("isolation of every operation", (database) => {
  let other: Tenant;
  let ourTenant = "";
  let ours: RowIds;
  let own: RowIds;
  let before = "";
  const server = serve(database, {
    prepare: async (at) => {
      ourTenant = await firstTenant(at.workspace);
      other = await makeTenant(at.workspace, model.scopes.join());
      ours = await createAll(at, at.portico.key, "ours");
      own = await createAll(at, other.key, "theirs");
      before = await allRows();
    },
  });
  const allRows = async (): Promise<string> => {
    const answers = resources.map((resource) => server.request(itemOf(resource, ours)));
    return JSON.stringify((await Promise.all(answers)).map(({ body }) => body));
  };
  const asOther = (path: string, options: RequestOptions = {}): Promise<Answer> =>
    server.request(path, { ...options, key: other.key });
  /** The same as our rows, with ids that do not exist. */
  const unknownRows = (): RowIds =>
    new Map([...ours].map(([name, id]) => [name, id.replace(/[^_]+$/, "0".repeat(26))]));
  /** 404, with the same text as for an id that does not exist. */
  const expectNothing = async (
    pathOf: (ids: RowIds) => string,
    optionsOf: () => RequestOptions = () => ({}),
  ): Promise<void> => {
    const answer = await asOther(pathOf(ours), optionsOf());
    expectAnswer(answer, { status: 404, code: "not_found" });
    assert.equal(answer.text, (await asOther(pathOf(unknownRows()), optionsOf())).text);
  };

  for (const resource of resources) {
    const { name, segment, version, parent, attributes, actions, nestedUnder } = resource;
    const item = (ids: RowIds): string => itemOf(resource, ids);
    const body = (): Record<string, unknown> => changeable(resource, bodyOf(resource, own, "again"));

    test(`GET, PUT, PATCH and DELETE of another tenant's ${name} are 404, with and without conditions`, async () => {
      for (const headers of [{}, { "if-match": "*" }, { "if-none-match": "*" }] as Record<string, string>[]) {
        await expectNothing(item, () => ({ headers }));
        await expectNothing(item, () => ({ headers, method: "PUT", body: body() }));
        await expectNothing(item, () => ({ headers, method: "PATCH", body: {} }));
        await expectNothing(item, () => ({ headers, method: "DELETE" }));
      }
      assert.equal((await asOther(item(ours), { method: "HEAD" })).status, 404);
      if (version === model.version) await expectNothing((ids) => item(ids).replace(`/${version}`, ""));
    });

    test(`no page of ${segment} contains another tenant's rows, in either direction, and a cursor of theirs is refused`, async () => {
      const id = ours.get(name)!;
      const queries = resource.paging === "page" ? ["?perPage=100"] : ["", "?direction=backward&limit=100"];
      for (const query of queries) {
        const { body } = await asOther(`${collectionOf(resource, own)}${query}`);
        const ids = body.data.map((row: { id: string }) => row.id);
        assert.ok(ids.includes(own.get(name)) && !ids.includes(id));
      }
      const { pagination } = (await server.request(`${collectionOf(resource, ours)}?limit=1`)).body;
      if (resource.paging === "cursor" && !parent)
        expectAnswer(await asOther(`${collectionOf(resource, own)}?cursor=${pagination.prevCursor}`), {
          status: 400,
          code: "invalid_cursor",
        });
    });

    if (parent) {
      test(`${segment} under another tenant's ${parent.reference!.name} can neither be read nor created`, async () => {
        await expectNothing((ids) => collectionOf(resource, ids));
        await expectNothing(
          (ids) => collectionOf(resource, ids),
          () => ({ body: body() }),
        );
      });
    }

    for (const by of nestedUnder) {
      const parentName = by === "tenant" ? "tenant" : by.reference!.name;
      test(`${segment} under another tenant${by === "tenant" ? "" : `'s ${parentName}`} can neither be read nor deleted`, async () => {
        const pathOf = (ids: RowIds): string => {
          if (by !== "tenant") return `${itemOf(by.reference!.target, ids)}/${segment}`;
          return `/${version}/tenants/${ids === ours ? ourTenant : "tenant_00000000000000000000000000"}/${segment}`;
        };
        await expectNothing(pathOf);
        await expectNothing(pathOf, () => ({ method: "DELETE" }));
      });
    }

    for (const action of actions.keys()) {
      test(`${action} of another tenant's ${name} cannot be created`, async () => {
        await expectNothing(
          (ids) => `${item(ids)}/${action}`,
          () => ({ body: {} }),
        );
        await expectNothing(
          (ids) => `${item(ids)}/${action}`,
          () => ({ method: "POST" }),
        );
      });
    }

    for (const { name: field, reference, isReadOnly, isImmutable } of attributes) {
      if (!reference || isReadOnly) continue;
      test(`${field} of a ${name} cannot refer to a row of another tenant`, async () => {
        const refer = async (path: string, method: string, id: string): Promise<Answer> =>
          asOther(path, {
            method,
            body: { ...(method === "POST" ? bodyOf(resource, own, "more") : body()), [field]: id },
          });
        for (const [path, method] of [
          [collectionOf(resource, own), "POST"],
          [item(own), "PUT"],
          [item(own), "PATCH"],
        ] as const) {
          const issue = method !== "POST" && isImmutable ? "read_only" : "reference";
          const answer = await refer(path, method, ours.get(reference.target.name)!);
          expectAnswer(answer, { status: 422, code: "validation_error", details: [{ field, issue }] });
          assert.equal(
            (await refer(path, method, unknownRows().get(reference.target.name)!)).text,
            answer.text,
          );
        }
      });
    }

    for (const [field, { attribute }] of resource.filters) {
      if (!attribute.reference) continue;
      test(`${segment} filtered by another tenant's ${field} are empty`, async () => {
        const id = ours.get(attribute.reference!.target.name);
        const { body } = await asOther(`${collectionOf(resource, own)}?${field}=${id}`);
        assert.deepEqual(body.data, []);
      });
    }
  }

  test("after these requests, every row is unchanged", async () => {
    assert.equal(await allRows(), before);
  });
});

/** The members of a body that can be updated. */
function changeable({ attribute }: ResourceModel, body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !attribute.get(name)!.isImmutable));
}
