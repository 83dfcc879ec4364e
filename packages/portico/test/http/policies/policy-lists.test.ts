// Policies in all responses with several rows: lists, totals, searches, pages, nested rows. Each contains exactly
// the visible rows, through every reference.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dataOf, requestGraphql } from "../../support/graphql/request.ts";
import { serve, type TestServer } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import { createRows, cwd, isVisible, type Row, type TreeRows, trees, type User } from "./policy-tree.ts";

interface Tag {
  readonly id: string;
  readonly of: Row;
}

onEachDatabase("policies in lists", (database) => {
  let treeRows: TreeRows;
  let tags: readonly Tag[];
  const server = serve(database, {
    cwd,
    prepare: async (at) => {
      treeRows = await createRows(at);
      tags = await tagAll(at, treeRows.rows);
    },
  });
  const users = (): readonly User[] => [treeRows.ann, treeRows.bob];
  const namesOf = (rows: readonly { name: string }[]): string[] => rows.map(({ name }) => name).sort();
  const visibleNames = (
    user: User,
    resource: string,
    isIncluded: (row: Row) => boolean = () => true,
  ): string[] =>
    namesOf(
      treeRows.rows.filter((row) => row.resource === resource && isIncluded(row) && isVisible(row, user)),
    );
  // biome-ignore lint/suspicious/noExplicitAny: tests access responses freely; a missing member fails the test.
  const list = async (path: string, { key }: User): Promise<any> => {
    const answer = await server.request(path, { key });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const query = (fields: string, { key }: User): Promise<any> => dataOf(server, `{ ${fields} }`, { key });

  for (const { title, levels } of trees) {
    for (const resource of levels) {
      test(`all ${resource}s of the tenant and of an owner, filtered, sorted and searched, with ${title}`, async () => {
        for (const user of users()) {
          const all = `/tenants/${treeRows.tenantId}/${resource}s`;
          const every = visibleNames(user, resource);
          for (const more of ["", "&sort=name", "&sort=-name", `&q=${resource}`, "&fields=name"])
            assert.deepEqual(namesOf((await list(`${all}?limit=100${more}`, user)).data), every, more);
          for (const owner of users()) {
            const ofOwner = visibleNames(user, resource, ({ ownerId }) => ownerId === owner.id);
            const path = `/users/${owner.id}/${resource}s?limit=100`;
            assert.deepEqual(namesOf((await list(path, user)).data), ofOwner);
            assert.deepEqual(
              namesOf((await list(`${all}?limit=100&ownerId=${owner.id}`, user)).data),
              ofOwner,
            );
          }
          const ofResource = treeRows.rows.filter((each) => each.resource === resource);
          const named = ofResource.map(async (row) => {
            const shown = isVisible(row, user) ? [row.name] : [];
            const name = encodeURIComponent(row.name);
            for (const by of [`name=${name}`, `q=${name}`, `name=${name}&name=other&name=another`])
              assert.deepEqual(namesOf((await list(`${all}?${by}`, user)).data), shown, by);
          });
          await Promise.all(named);
        }
      });

      test(`pages of ${resource}s, forward and backward, and their totals, with ${title}`, async () => {
        for (const user of users()) {
          const every = visibleNames(user, resource);
          const all = `/tenants/${treeRows.tenantId}/${resource}s`;
          if (resource === "file") {
            const pages = await Promise.all(
              every.map((_, index) => list(`${all}?perPage=1&page=${index + 1}&sort=name`, user)),
            );
            assert.deepEqual(namesOf(pages.flatMap(({ data }) => data)), every);
            assert.ok(pages.every(({ pagination }) => pagination.total === every.length));
            assert.deepEqual((await list(`${all}?page=${every.length + 1}&perPage=1`, user)).data, []);
            continue;
          }
          for (const sort of ["name", "-createdAt"])
            for (const direction of ["forward", "backward"])
              assert.deepEqual(await walk(`${all}?limit=1&sort=${sort}&direction=${direction}`, user), every);
        }
      });
    }

    const [top, mid, leaf] = levels;
    test(`nested rows, from parent to child, with ${title}`, async () => {
      for (const user of users()) {
        for (const row of treeRows.rows.filter(({ resource }) => resource === top)) {
          const data = await query(
            `${top}(id: "${row.id}") { name ${mid}s(first: 100) { name ${leaf}s { name } } }`,
            user,
          );
          if (!isVisible(row, user)) {
            assert.equal(data[top], null);
            continue;
          }
          const inside = visibleNames(user, mid, ({ parent }) => parent === row);
          assert.deepEqual(namesOf(data[top][`${mid}s`]), inside);
          for (const each of data[top][`${mid}s`])
            assert.deepEqual(
              namesOf(each[`${leaf}s`]),
              visibleNames(user, leaf, ({ parent }) => parent?.name === each.name),
            );
        }
      }
    });

    test(`nested rows, from child to parent, with ${title}`, async () => {
      for (const user of users()) {
        for (const row of treeRows.rows.filter(({ resource }) => resource === leaf)) {
          const [parent, highest] = [row.parent!, row.parent!.parent!];
          const data = await query(`${leaf}(id: "${row.id}") { name ${mid} { name ${top} { name } } }`, user);
          const expected = {
            name: row.name,
            [mid]: { name: parent.name, [top]: isVisible(highest, user) ? { name: highest.name } : null },
          };
          assert.deepEqual(data[leaf], isVisible(row, user) ? expected : null);
        }
      }
    });

    test(`rows through a reference other than their parent, with ${title}`, async () => {
      for (const reader of users()) {
        for (const owner of users()) {
          const lists = levels.map((each) => `${each}s(first: 100) { name owner { id } }`).join(" ");
          const { user } = await query(`user(id: "${owner.id}") { ${lists} }`, reader);
          for (const resource of levels)
            assert.deepEqual(
              namesOf(user[`${resource}s`]),
              visibleNames(reader, resource, ({ ownerId }) => ownerId === owner.id),
            );
        }
      }
    });

    test(`connections, with ${title}`, async () => {
      for (const user of users()) {
        for (const row of treeRows.rows.filter(
          ({ resource, depth }) => depth < 2 && levels.includes(resource),
        )) {
          if (!isVisible(row, user)) continue;
          const inside = levels[row.depth + 1]!;
          const page = `${inside}sConnection(${row.resource}Id: "${row.id}", first: 1, sort: NAME_ASC`;
          const fields = "{ edges { node { name } cursor } pageInfo { hasNextPage endCursor } }";
          const names: string[] = [];
          let answer = await query(`page: ${page}) ${fields}`, user);
          for (;;) {
            names.push(...answer.page.edges.map(({ node }: { node: { name: string } }) => node.name));
            if (!answer.page.pageInfo.hasNextPage) break;
            answer = await query(
              `page: ${page}, after: "${answer.page.pageInfo.endCursor}") ${fields}`,
              user,
            );
          }
          assert.deepEqual(
            names.sort(),
            visibleNames(user, inside, ({ parent }) => parent === row),
          );
        }
      }
    });
  }

  test("a search in all resources finds only visible rows", async () => {
    for (const user of users()) {
      for (const { levels } of trees) {
        const [top] = levels;
        const { search } = await query(
          `search(q: "${top}", limit: 100) { ... on Node { id } __typename }`,
          user,
        );
        assert.equal(search.length, visibleNames(user, top).length);
      }
    }
  });

  test("a row that is visible to all has its references only if they are visible", async () => {
    for (const user of users()) {
      const { data } = await list(
        "/tags?limit=100&fields=name,project.name,note.name,note.project.name,remark.name,remark.note.project.name,file.name,file.folder.account.name,drawer.name,drawer.desk.name",
        user,
      );
      assert.equal(data.length, tags.length);
      for (const tag of data) {
        const { of: row } = tags.find(({ id }) => id === tag.id)!;
        const shown = tag[row.resource];
        assert.equal(shown?.name, isVisible(row, user) ? row.name : undefined, JSON.stringify(tag));
      }
      const text = JSON.stringify(data);
      for (const row of treeRows.rows)
        if (!isVisible(row, user)) assert.ok(!text.includes(`"${row.name}"`), row.name);
      const { tags: selected } = await query(
        "tags(limit: 100) { id project { name notes { name remarks { name } } } note { name project { name } remarks { name } } remark { name note { name project { name } } } file { name folder { account { name } } } drawer { name desk { name } } }",
        user,
      );
      for (const tag of selected) {
        const { of: row } = tags.find(({ id }) => id === tag.id)!;
        assert.equal(tag[row.resource]?.name, isVisible(row, user) ? row.name : undefined);
      }
      const whole = JSON.stringify(selected);
      for (const row of treeRows.rows)
        if (!isVisible(row, user)) assert.ok(!whole.includes(`"${row.name}"`), row.name);
    }
  });

  test("a cursor of another caller reveals no hidden row", async () => {
    const { ann, bob, tenantId } = treeRows;
    const path = `/tenants/${tenantId}/remarks?limit=1`;
    const { pagination } = await list(path, bob);
    const page = await list(`/tenants/${tenantId}/remarks?limit=100&cursor=${pagination.nextCursor}`, ann);
    const visible = visibleNames(ann, "remark");
    assert.ok(page.data.every(({ name }: { name: string }) => visible.includes(name)));
    const back = await list(
      `/tenants/${tenantId}/remarks?limit=100&direction=backward&cursor=${pagination.nextCursor}`,
      ann,
    );
    assert.deepEqual([...namesOf(page.data), ...namesOf(back.data)].sort(), visible);
  });

  test("a reference to rows that a policy may hide, also a policy of their parents, is nullable in GraphQL", async () => {
    const { body } = await requestGraphql(
      server,
      '{ __type(name: "Remark") { fields { name type { kind } } } }',
    );
    const kindOf = (name: string): string =>
      body.data.__type.fields.find((each: { name: string }) => each.name === name).type.kind;
    assert.equal(kindOf("note"), "OBJECT");
    assert.equal(kindOf("owner"), "NON_NULL");
  });

  async function walk(path: string, user: User): Promise<string[]> {
    const names: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await list(`${path}${cursor && `&cursor=${cursor}`}`, user);
      names.push(...namesOf(page.data));
      const { hasMore, nextCursor, prevCursor } = page.pagination;
      if (!hasMore) break;
      cursor = path.includes("backward") ? prevCursor : nextCursor;
    }
    return names.sort();
  }
});

/** A tag for each row that tags can refer to. */
async function tagAll(server: TestServer, rows: readonly Row[]): Promise<Tag[]> {
  const tagged = rows.filter(({ resource }) =>
    ["project", "note", "remark", "file", "drawer"].includes(resource),
  );
  return Promise.all(
    tagged.map(async (of): Promise<Tag> => {
      const { id } = await server.create("/tags", { name: "tag", [`${of.resource}Id`]: of.id });
      return { id, of };
    }),
  );
}
