// Policies in everything that answers with several rows: lists, totals, searches, pages, rows inside rows. Each shows
// just the rows that are visible, through every reference.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dataOf, requestGraphql } from "../../support/graphql/request.ts";
import { type Served, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import { cwd, isVisible, type Person, type Planted, plant, type Row, trees } from "./policy-tree.ts";

interface Tag {
  readonly id: string;
  readonly of: Row;
}

onEachDatabase("policies in lists", (database) => {
  let planted: Planted;
  let tags: readonly Tag[];
  const served = serve(database, {
    cwd,
    prepare: async (at) => {
      planted = await plant(at);
      tags = await tagAll(at, planted.rows);
    },
  });
  const people = (): readonly Person[] => [planted.ann, planted.bob];
  const namesOf = (rows: readonly { name: string }[]): string[] => rows.map(({ name }) => name).sort();
  const visibleNames = (
    person: Person,
    resource: string,
    isMeant: (row: Row) => boolean = () => true,
  ): string[] =>
    namesOf(
      planted.rows.filter((row) => row.resource === resource && isMeant(row) && isVisible(row, person)),
    );
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely; what is missing fails them.
  const list = async (path: string, { key }: Person): Promise<any> => {
    const answer = await served.request(path, { key });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const query = (fields: string, { key }: Person): Promise<any> => dataOf(served, `{ ${fields} }`, { key });

  for (const { title, levels } of trees) {
    for (const resource of levels) {
      test(`all ${resource}s of the tenant and of an owner, filtered, sorted and searched, with ${title}`, async () => {
        for (const person of people()) {
          const all = `/tenants/${planted.tenantId}/${resource}s`;
          const every = visibleNames(person, resource);
          for (const more of ["", "&sort=name", "&sort=-name", `&q=${resource}`, "&fields=name"])
            assert.deepEqual(namesOf((await list(`${all}?limit=100${more}`, person)).data), every, more);
          for (const owner of people()) {
            const ofOwner = visibleNames(person, resource, ({ ownerId }) => ownerId === owner.id);
            const below = `/users/${owner.id}/${resource}s?limit=100`;
            assert.deepEqual(namesOf((await list(below, person)).data), ofOwner);
            assert.deepEqual(
              namesOf((await list(`${all}?limit=100&ownerId=${owner.id}`, person)).data),
              ofOwner,
            );
          }
          const ofResource = planted.rows.filter((each) => each.resource === resource);
          const named = ofResource.map(async (row) => {
            const shown = isVisible(row, person) ? [row.name] : [];
            const name = encodeURIComponent(row.name);
            for (const by of [`name=${name}`, `q=${name}`, `name=${name}&name=other&name=another`])
              assert.deepEqual(namesOf((await list(`${all}?${by}`, person)).data), shown, by);
          });
          await Promise.all(named);
        }
      });

      test(`pages of ${resource}s, forward and backward, and their totals, with ${title}`, async () => {
        for (const person of people()) {
          const every = visibleNames(person, resource);
          const all = `/tenants/${planted.tenantId}/${resource}s`;
          if (resource === "file") {
            const pages = await Promise.all(
              every.map((_, index) => list(`${all}?perPage=1&page=${index + 1}&sort=name`, person)),
            );
            assert.deepEqual(namesOf(pages.flatMap(({ data }) => data)), every);
            assert.ok(pages.every(({ pagination }) => pagination.total === every.length));
            assert.deepEqual((await list(`${all}?page=${every.length + 1}&perPage=1`, person)).data, []);
            continue;
          }
          for (const sort of ["name", "-createdAt"])
            for (const direction of ["forward", "backward"])
              assert.deepEqual(
                await walk(`${all}?limit=1&sort=${sort}&direction=${direction}`, person),
                every,
              );
        }
      });
    }

    const [top, mid, leaf] = levels;
    test(`rows inside rows, downward, with ${title}`, async () => {
      for (const person of people()) {
        for (const row of planted.rows.filter(({ resource }) => resource === top)) {
          const data = await query(
            `${top}(id: "${row.id}") { name ${mid}s(first: 100) { name ${leaf}s { name } } }`,
            person,
          );
          if (!isVisible(row, person)) {
            assert.equal(data[top], null);
            continue;
          }
          const inside = visibleNames(person, mid, ({ parent }) => parent === row);
          assert.deepEqual(namesOf(data[top][`${mid}s`]), inside);
          for (const each of data[top][`${mid}s`])
            assert.deepEqual(
              namesOf(each[`${leaf}s`]),
              visibleNames(person, leaf, ({ parent }) => parent?.name === each.name),
            );
        }
      }
    });

    test(`rows inside rows, upward, with ${title}`, async () => {
      for (const person of people()) {
        for (const row of planted.rows.filter(({ resource }) => resource === leaf)) {
          const [above, highest] = [row.parent!, row.parent!.parent!];
          const data = await query(
            `${leaf}(id: "${row.id}") { name ${mid} { name ${top} { name } } }`,
            person,
          );
          const expected = {
            name: row.name,
            [mid]: { name: above.name, [top]: isVisible(highest, person) ? { name: highest.name } : null },
          };
          assert.deepEqual(data[leaf], isVisible(row, person) ? expected : null);
        }
      }
    });

    test(`rows through a reference beside their parent, with ${title}`, async () => {
      for (const person of people()) {
        for (const owner of people()) {
          const lists = levels.map((each) => `${each}s(first: 100) { name owner { id } }`).join(" ");
          const { user } = await query(`user(id: "${owner.id}") { ${lists} }`, person);
          for (const resource of levels)
            assert.deepEqual(
              namesOf(user[`${resource}s`]),
              visibleNames(person, resource, ({ ownerId }) => ownerId === owner.id),
            );
        }
      }
    });

    test(`connections, with ${title}`, async () => {
      for (const person of people()) {
        for (const row of planted.rows.filter(
          ({ resource, depth }) => depth < 2 && levels.includes(resource),
        )) {
          if (!isVisible(row, person)) continue;
          const inside = levels[row.depth + 1]!;
          const page = `${inside}sConnection(${row.resource}Id: "${row.id}", first: 1, sort: NAME_ASC`;
          const fields = "{ edges { node { name } cursor } pageInfo { hasNextPage endCursor } }";
          const names: string[] = [];
          let found = await query(`page: ${page}) ${fields}`, person);
          for (;;) {
            names.push(...found.page.edges.map(({ node }: { node: { name: string } }) => node.name));
            if (!found.page.pageInfo.hasNextPage) break;
            found = await query(
              `page: ${page}, after: "${found.page.pageInfo.endCursor}") ${fields}`,
              person,
            );
          }
          assert.deepEqual(
            names.sort(),
            visibleNames(person, inside, ({ parent }) => parent === row),
          );
        }
      }
    });
  }

  test("a search in all resources finds only what is visible", async () => {
    for (const person of people()) {
      for (const { levels } of trees) {
        const [top] = levels;
        const { search } = await query(
          `search(q: "${top}", limit: 100) { ... on Node { id } __typename }`,
          person,
        );
        assert.equal(search.length, visibleNames(person, top).length);
      }
    }
  });

  test("a row that anybody sees shows what it refers to only where that is visible", async () => {
    for (const person of people()) {
      const { data } = await list(
        "/tags?limit=100&fields=name,project.name,note.name,note.project.name,remark.name,remark.note.project.name,file.name,file.folder.account.name,drawer.name,drawer.desk.name",
        person,
      );
      assert.equal(data.length, tags.length);
      for (const tag of data) {
        const { of: row } = tags.find(({ id }) => id === tag.id)!;
        const shown = tag[row.resource];
        assert.equal(shown?.name, isVisible(row, person) ? row.name : undefined, JSON.stringify(tag));
      }
      const text = JSON.stringify(data);
      for (const row of planted.rows)
        if (!isVisible(row, person)) assert.ok(!text.includes(`"${row.name}"`), row.name);
      const { tags: selected } = await query(
        "tags(limit: 100) { id project { name notes { name remarks { name } } } note { name project { name } remarks { name } } remark { name note { name project { name } } } file { name folder { account { name } } } drawer { name desk { name } } }",
        person,
      );
      for (const tag of selected) {
        const { of: row } = tags.find(({ id }) => id === tag.id)!;
        assert.equal(tag[row.resource]?.name, isVisible(row, person) ? row.name : undefined);
      }
      const whole = JSON.stringify(selected);
      for (const row of planted.rows)
        if (!isVisible(row, person)) assert.ok(!whole.includes(`"${row.name}"`), row.name);
    }
  });

  test("a cursor that another caller was given shows nothing else", async () => {
    const { ann, bob, tenantId } = planted;
    const path = `/tenants/${tenantId}/remarks?limit=1`;
    const { pagination } = await list(path, bob);
    const page = await list(`/tenants/${tenantId}/remarks?limit=100&cursor=${pagination.nextCursor}`, ann);
    const hers = visibleNames(ann, "remark");
    assert.ok(page.data.every(({ name }: { name: string }) => hers.includes(name)));
    const back = await list(
      `/tenants/${tenantId}/remarks?limit=100&direction=backward&cursor=${pagination.nextCursor}`,
      ann,
    );
    assert.deepEqual([...namesOf(page.data), ...namesOf(back.data)].sort(), hers);
  });

  test("a reference to what a policy may hide, also by one above it, is nullable in GraphQL", async () => {
    const { body } = await requestGraphql(
      served,
      '{ __type(name: "Remark") { fields { name type { kind } } } }',
    );
    const kindOf = (name: string): string =>
      body.data.__type.fields.find((each: { name: string }) => each.name === name).type.kind;
    assert.equal(kindOf("note"), "OBJECT");
    assert.equal(kindOf("owner"), "NON_NULL");
  });

  async function walk(path: string, person: Person): Promise<string[]> {
    const names: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await list(`${path}${cursor && `&cursor=${cursor}`}`, person);
      names.push(...namesOf(page.data));
      const { hasMore, nextCursor, prevCursor } = page.pagination;
      if (!hasMore) break;
      cursor = path.includes("backward") ? prevCursor : nextCursor;
    }
    return names.sort();
  }
});

/** A tag for each row that tags can refer to. */
async function tagAll(served: Served, rows: readonly Row[]): Promise<Tag[]> {
  const tagged = rows.filter(({ resource }) =>
    ["project", "note", "remark", "file", "drawer"].includes(resource),
  );
  return Promise.all(
    tagged.map(async (of): Promise<Tag> => {
      const { id } = await served.create("/tags", { name: "tag", [`${of.resource}Id`]: of.id });
      return { id, of };
    }),
  );
}
