// The SQL text of a few reads, so that changes of their statements are visible. Each read is one statement.

import assert from "node:assert/strict";
import { test } from "node:test";
import service from "../../../../portico.config.ts";
import { users } from "../../src/auth/users/resource.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Read, Sort } from "../../src/query/read.ts";
import { select, wholeRow } from "../../src/query/selection.ts";
import { compileGet } from "../../src/store/compile/get.ts";
import { compileList } from "../../src/store/compile/list.ts";
import type { Dialect } from "../../src/store/dialect.ts";
import { postgresDialect } from "../../src/store/postgres/dialect.ts";
import { sqliteDialect } from "../../src/store/sqlite/dialect.ts";

const model = buildModel(service, [users]);
const posts = model.resource.get("post")!;
const userResource = model.resource.get("user")!;
const attribute = (name: string) => posts.attribute.get(name)!;
const brief = select([attribute("id"), attribute("title")]);
const newestFirst: Sort = [{ attribute: attribute("createdAt"), isDescending: true }];

const newest: Read = {
  resource: posts,
  selection: brief,
  conditions: [],
  words: [],
  sort: newestFirst,
  page: { style: "cursor", limit: 20, position: undefined, isBackward: false },
};
const deep: Read = {
  ...newest,
  conditions: [{ attribute: attribute("status"), operator: "in", values: ["draft"] }],
  sort: [{ attribute: attribute("title"), isDescending: false }],
  page: {
    style: "cursor",
    limit: 20,
    position: { values: ["M"], id: "post_01k00000000000000000000000" },
    isBackward: false,
  },
};
const nested = select(
  [attribute("id")],
  [
    {
      kind: "row",
      name: "author",
      reference: attribute("authorId"),
      selection: select([userResource.attribute.get("name")!]),
      conditions: [],
    },
  ],
);
const withList = select(
  [userResource.attribute.get("id")!],
  [
    {
      kind: "list",
      name: "posts",
      resource: posts,
      reference: attribute("authorId"),
      selection: brief,
      conditions: [],
      sort: newestFirst,
      limit: 5,
    },
  ],
);

const reads = {
  "a row": (dialect: Dialect) =>
    compileGet(dialect, { resource: posts, selection: wholeRow(posts), id: "x", conditions: [] }, undefined),
  "the first page": (dialect: Dialect) => compileList(dialect, newest),
  "a deep page of a filtered list": (dialect: Dialect) => compileList(dialect, deep),
  "a row with the row it refers to": (dialect: Dialect) =>
    compileGet(dialect, { resource: posts, selection: nested, id: "x", conditions: [] }, undefined),
  "a row with the rows that refer to it": (dialect: Dialect) =>
    compileGet(dialect, { resource: userResource, selection: withList, id: "x", conditions: [] }, undefined),
};

const timestamp = (name: string): string =>
  `substr(to_json(${name} + interval '1 microsecond')::text, 2, 23) || 'Z'`;

const expected: Readonly<Record<Dialect["name"], Readonly<Record<keyof typeof reads, string>>>> = {
  sqlite: {
    "a row": `select json_object('id', "r"."id", 'title', "r"."title", 'body', "r"."body", 'status', "r"."status",
      'authorId', "r"."author_id", 'createdAt', "r"."created_at", 'updatedAt', "r"."updated_at")
      from "posts" as r where "r"."tenant_no" = ? and r.id = ?`,
    "the first page": `select group_concat("r"."row text", ', '), group_concat("r"."row keys", ', '), count(*), null
      from (select json_object('id', "r"."id", 'title', "r"."title") as "row text",
      json_array("r"."created_at", "r"."id") as "row keys" from "posts" as r where "r"."tenant_no" = ?
      order by "r"."created_at" desc, "r"."id" desc limit cast(? as integer)) as r`,
    "a deep page of a filtered list": `select group_concat("r"."row text", ', '), null, count(*), null
      from (select json_object('id', "r"."id", 'title', "r"."title") as "row text"
      from "posts" as r where "r"."tenant_no" = ? and "r"."status" = ?
      and ("r"."title", "r"."id") > (?, ?) order by "r"."title" asc, "r"."id" asc limit cast(? as integer)) as r`,
    "a row with the row it refers to": `select json_object('id', "r"."id", 'author',
      (select json_object('name', "r_0"."name") from "users" as "r_0"
      where "r_0"."tenant_no" = ? and "r_0"."id" = "r"."author_id")) from "posts" as r where "r"."tenant_no" = ? and r.id = ?`,
    "a row with the rows that refer to it": `select json_object('id', "r"."id", 'posts',
      (select json_group_array(json_object('id', "r_0"."id", 'title', "r_0"."title")) from (
      select "r_0"."id", "r_0"."title" from "posts" as "r_0"
      where "r_0"."tenant_no" = ? and "r_0"."author_id" = "r"."id"
      order by "r_0"."created_at" desc, "r_0"."id" desc limit cast(? as integer)) as "r_0"))
      from "users" as r where "r"."tenant_no" = ? and r.id = ?`,
  },
  postgres: {
    "a row": `select (select row_to_json(q)::text from (select "r"."id" as "id", "r"."title" as "title",
      "r"."body" as "body", "r"."status" as "status", "r"."author_id" as "authorId",
      ${timestamp('"r"."created_at"')} as "createdAt", ${timestamp('"r"."updated_at"')} as "updatedAt") q)
      from "posts" as r where "r"."tenant_no" = $1 and r.id = $2`,
    "the first page": `select string_agg("r"."row text", ', '), string_agg("r"."row keys", ', '), count(*), null
      from (select (select row_to_json(q)::text from (select "r"."id" as "id", "r"."title" as "title") q) as "row text",
      json_build_array(${timestamp('"r"."created_at"')}, "r"."id")::text as "row keys"
      from "posts" as r where "r"."tenant_no" = $1
      order by "r"."created_at" desc, "r"."id" desc limit 21) as r`,
    "a deep page of a filtered list": `select string_agg("r"."row text", ', '), null, count(*), null
      from (select (select row_to_json(q)::text from (select "r"."id" as "id", "r"."title" as "title") q) as "row text"
      from "posts" as r where "r"."tenant_no" = $1 and "r"."status" = $2
      and ("r"."title", "r"."id") > ($3, $4) order by "r"."title" asc, "r"."id" asc limit 21) as r`,
    "a row with the row it refers to": `select (select row_to_json(q)::text from (select "r"."id" as "id",
      "j1"."j" as "author") q) from "posts" as r left join lateral (select
      (select row_to_json(q) from (select "r_0"."name" as "name") q) as j from "users" as "r_0"
      where "r_0"."tenant_no" = $1 and "r_0"."id" = "r"."author_id" offset 0) as "j1" on true
      where "r"."tenant_no" = $2 and r.id = $3`,
    "a row with the rows that refer to it": `select (select row_to_json(q)::text from (select "r"."id" as "id",
      (select coalesce(json_agg((select row_to_json(q) from (select "r_0"."id" as "id", "r_0"."title" as "title") q)), '[]'::json) from (
      select "r_0"."id", "r_0"."title" from "posts" as "r_0"
      where "r_0"."tenant_no" = $1 and "r_0"."author_id" = "r"."id"
      order by "r_0"."created_at" desc, "r_0"."id" desc limit 5) as "r_0") as "posts") q)
      from "users" as r where "r"."tenant_no" = $2 and r.id = $3`,
  },
};

for (const dialect of [sqliteDialect, postgresDialect]) {
  for (const [name, statementOf] of Object.entries(reads)) {
    test(`${name} (${dialect.name})`, () => {
      // Reads and expected statements have the same names.
      const text = expected[dialect.name][name as keyof typeof reads];
      assert.equal(onOneLine(statementOf(dialect).sql), onOneLine(text));
    });
  }
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}
