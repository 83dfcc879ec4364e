// Types inferred from declarations: `tsc` fails if one of them is wrong.

import {
  app,
  belongsTo,
  boolean,
  type ChangesOf,
  choice,
  date,
  decimal,
  file,
  type InputOf,
  id,
  integer,
  json,
  list,
  manyToMany,
  number,
  type RecordOf,
  type Rows,
  range,
  resource,
  route,
  text,
  timestamp,
  users,
  type Where,
} from "portico";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function holds<_Fact extends true>(): void {}

const posts = resource("post", {
  fields: {
    title: text({ min: 1 }),
    body: text({ default: "" }),
    status: choice(["draft", "published"], { default: "draft" }),
    rank: integer({ optional: true }),
    price: number(),
    isOpen: boolean({ default: false }),
    dueAt: timestamp({ optional: true }),
    fee: decimal({ precision: 12, scale: 2, default: "0" }),
    endsOn: date({ optional: true }),
    meta: json({ default: {} }),
    foreign: id(),
    hash: text({ internal: true }),
    views: integer({ readOnly: true }),
    author: belongsTo(() => users, { default: "caller" }),
    reviewer: belongsTo(() => users, { optional: true }),
  },
  filter: ["status", "authorId", range("createdAt")],
  sort: ["createdAt", "title"],
  search: ["title"],
  hooks: {
    before: {
      create(input, { caller, now }) {
        holds<Equal<typeof input.status, "draft" | "published" | undefined>>();
        holds<Equal<typeof input.title, string>>();
        holds<Equal<typeof now, string>>();
        holds<Equal<typeof caller.userId, string | null>>();
        return { views: 0, body: input.body ?? "" };
      },
      update(changes, { current }) {
        holds<Equal<typeof changes.title, string | undefined>>();
        holds<Equal<typeof current.rank, number | null>>();
        return undefined;
      },
    },
  },
});
resource("parcel", {
  parent: posts,
  fields: { weight: number() },
  hooks: {
    before: {
      create: (_input, { parent, parentId }) => {
        holds<Equal<typeof parent.title, string>>();
        holds<Equal<typeof parentId, string>>();
        return undefined;
      },
    },
  },
  actions: {
    moves: {
      input: {
        to: text(),
        count: integer({ default: 1 }),
        at: timestamp({ optional: true }),
        by: belongsTo(() => users, { default: "caller" }),
      },
      run: async ({ current, input, now, caller }) => {
        holds<Equal<typeof current.weight, number>>();
        holds<Equal<typeof current.postId, string>>();
        holds<
          Equal<typeof input, Readonly<{ to: string; count: number; at: string | null; byId: string }>>
        >();
        holds<Equal<typeof now, string>>();
        holds<Equal<typeof caller.userId, string | null>>();
        return current;
      },
    },
    sums: {
      on: "collection",
      input: { least: number() },
      answer: { total: integer(), note: text({ optional: true }) },
      run: async ({ parent, parentId, input, rows }) => {
        holds<Equal<typeof parent.title, string>>();
        holds<Equal<typeof parentId, string>>();
        holds<Equal<typeof input.least, number>>();
        return { total: await rows.count(posts, { price: { gte: input.least } }) };
      },
    },
    drops: { on: "collection", input: {}, run: async () => ({ count: 1 }) },
    // @ts-expect-error: the count is a number
    falls: { on: "collection", input: {}, run: async () => ({ count: "1" }) },
    // @ts-expect-error: the total is missing
    rests: { on: "collection", input: {}, answer: { total: integer() }, run: async () => ({}) },
    // @ts-expect-error: the old form
    turns: { input: {}, run: async (current: { id: string }, _input: object) => current },
    // @ts-expect-error: a result without an id
    losses: { input: {}, run: async () => ({ weight: 1 }) },
  },
});
const comments = resource("comment", { parent: posts, fields: { body: text() }, filter: ["postId"] });

holds<
  Equal<
    RecordOf<typeof posts>,
    {
      id: string;
      title: string;
      body: string;
      status: "draft" | "published";
      rank: number | null;
      price: number;
      isOpen: boolean;
      dueAt: string | null;
      fee: string;
      endsOn: string | null;
      meta: unknown;
      foreign: string;
      views: number;
      authorId: string;
      reviewerId: string | null;
      createdAt: string;
      updatedAt: string;
    }
  >
>();

type PostInput = {
  title: string;
  price: number;
  foreign: string;
  body?: string;
  status?: "draft" | "published";
  rank?: number | null;
  isOpen?: boolean;
  dueAt?: string | null;
  fee?: string;
  endsOn?: string | null;
  meta?: unknown;
  authorId?: string;
  reviewerId?: string | null;
};
holds<Equal<InputOf<typeof posts>, PostInput>>();
holds<Equal<ChangesOf<typeof posts>, Partial<PostInput>>>();

holds<
  Equal<
    RecordOf<typeof comments>,
    { id: string; postId: string; body: string; createdAt: string; updatedAt: string }
  >
>();
holds<Equal<InputOf<typeof comments>, { body: string }>>();

// @ts-expect-error: text is not a number
holds<Equal<RecordOf<typeof comments>["body"], number>>();

// @ts-expect-error: there is no such field to filter by
resource("wrong", { fields: { title: text() }, filter: ["nope"] });
// @ts-expect-error: there is no such field to sort by
resource("wrong", { fields: { title: text() }, sort: ["nope"] });
// @ts-expect-error: there is no such field to search
resource("wrong", { fields: { title: text() }, search: ["nope"] });
// @ts-expect-error: a reference is filtered by its id
resource("wrong", { fields: { author: belongsTo(() => users) }, filter: ["author"] });
// @ts-expect-error: the default is not one of the choices
choice(["a", "b"], { default: "c" });
// @ts-expect-error: the default of a text must be text
text({ default: 1 });
// @ts-expect-error: pages have two styles
resource("wrong", { fields: {}, paging: "scroll" });

/** The operations on rows that hooks and seeds can use. */
export async function used(rows: Rows): Promise<void> {
  const post = await rows.create(posts, { title: "x", price: 1, foreign: "y" });
  holds<Equal<typeof post.status, "draft" | "published">>();
  await rows.create(comments, { postId: post.id, body: "x" });
  await rows.update(posts, post.id, { status: "published" });
  // @ts-expect-error: the title is missing
  await rows.create(posts, { price: 1, foreign: "y" });
  // @ts-expect-error: a comment needs its post
  await rows.create(comments, { body: "x" });
  // Hooks set read-only and internal fields.
  await rows.update(posts, post.id, { views: 1 });
  await rows.create(posts, { title: "x", price: 1, foreign: "y", hash: "z" });
  // @ts-expect-error: the hash is text
  await rows.create(posts, { title: "x", price: 1, foreign: "y", hash: 1 });
  // @ts-expect-error: there is no such status
  await rows.update(posts, post.id, { status: "lost" });
  const listed = await rows.list(posts, { status: ["draft"], comments: { some: { body: "x" } } });
  holds<Equal<(typeof listed)[number]["rank"], number | null>>();
  await rows.list(comments, { post: { title: "x" }, NOT: { body: "x" } }, { sort: ["-body", "createdAt"] });
  const where: Where<typeof posts> = { title: "x" };
  const { count } = await rows.updateMany(posts, where, { status: "published", views: 1 });
  holds<Equal<typeof count, number>>();
  // Code sees internal fields, callers do not.
  holds<Equal<(typeof listed)[number]["hash"], string>>();
  await rows.count(posts, { hash: "x" });
  // @ts-expect-error: there is no such field
  await rows.list(posts, { titel: "x" });
  // @ts-expect-error: there is no such field
  await rows.count(posts, { OR: [{ title: "x" }, { titel: "x" }] });
  // @ts-expect-error: there is no such field
  await rows.first(posts, { NOT: { titel: "x" } });
  // @ts-expect-error: there is no such field to sort by
  await rows.list(posts, {}, { sort: "titel" });
  // @ts-expect-error: a condition is needed
  await rows.deleteMany(posts);
  // @ts-expect-error: the rank is a number
  await rows.updateMany(posts, { rank: "x" }, {});
}

route(
  "POST /v1/posts/{postId}/reviews/{rank}",
  {
    scope: "posts:read",
    parameters: { rank: integer() },
    query: { since: timestamp({ optional: true }), isOpen: boolean({ default: true }) },
    input: { author: belongsTo(() => users), line: text() },
    answer: { count: integer(), note: text({ optional: true }) },
  },
  async ({ parameters, query, input, rows }) => {
    holds<Equal<typeof parameters.postId, string>>();
    holds<Equal<typeof parameters.rank, number>>();
    holds<Equal<typeof query.since, string | null>>();
    holds<Equal<typeof query.isOpen, boolean>>();
    holds<Equal<typeof input.authorId, string>>();
    await rows.update(posts, parameters.postId, { rank: parameters.rank });
    return { count: 1 };
  },
);
route("GET /v1/nothing/{id}", { public: true }, async ({ rows, parameters, input, query }) => {
  await rows.get(posts, parameters.id);
  // @ts-expect-error GET only reads
  await rows.update(posts, parameters.id, { rank: 1 });
  // @ts-expect-error the path has no such parameter
  parameters.name;
  // @ts-expect-error no input is declared
  input.name;
  // @ts-expect-error no query is declared
  query.name;
});
// @ts-expect-error a route says who may call it
route("GET /v1/nothing", {}, () => {});
// @ts-expect-error either a scope or public
route("GET /v1/nothing", { scope: "posts:read", public: true }, () => {});
// @ts-expect-error there is no such method
route("HEAD /v1/nothing", { scope: null }, () => {});
// @ts-expect-error the count is a number
route("GET /v1/counts", { scope: null, answer: { count: integer() } }, () => ({ count: "1" }));
// @ts-expect-error the count is missing
route("GET /v1/counts", { scope: null, answer: { count: integer() } }, () => ({}));

resource("indexed", {
  parent: posts,
  fields: { name: text({ max: 100 }), secret: text({ max: 20, internal: true }) },
  sort: ["name"],
  unique: [["postId", "name"]],
  indexes: [
    ["postId", "-name"],
    ["updatedAt", "-createdAt"],
  ],
});
resource("wrong", {
  fields: { name: text({ max: 100 }), secret: text({ max: 20, internal: true }) },
  // @ts-expect-error there is no such field
  unique: [["nope"]],
  // @ts-expect-error an internal field
  indexes: [["-secret"]],
});

const secrets = resource("secret", {
  parent: posts,
  fields: { word: text(), rank: integer({ optional: true }), tags: json(), owner: belongsTo(() => users) },
  policy: {
    read: ({ caller }) => ({
      OR: [{ ownerId: caller.userId }, { rank: { gte: 3, isNull: false } }, { post: { status: ["draft"] } }],
    }),
    // @ts-expect-error a number is no text
    create: () => ({ word: 5 }),
    // @ts-expect-error a choice of the parent
    update: () => ({ post: { status: "gone" } }),
    // @ts-expect-error a policy returns no undefined
    delete: () => undefined,
  },
});
// @ts-expect-error JSON cannot be compared
export const ofJson: Where<typeof secrets> = { tags: "a" };
export const ofCollection: Where<typeof posts> = {
  secrets: { some: { word: "a" } },
  NOT: { title: { contains: "a" } },
};

export const handled = app({
  name: "Handled",
  resources: [posts, secrets],
  on: {
    "post.updated": ({ event, rows }) => {
      holds<Equal<typeof event.data.status, "draft" | "published">>();
      holds<Equal<typeof rows, Rows>>();
      // @ts-expect-error an internal field
      event.data.hash;
    },
    "secret.*": { index: async ({ event, signal }) => [event.data.postId, signal.aborted] },
    "api_key.created": ({ event }) => holds<Equal<(typeof event.data)[string], unknown>>(),
    "*": ({ event }) => holds<Equal<typeof event.type, string>>(),
    // @ts-expect-error no resource of the app
    "pots.updated": () => {},
  },
  schedules: {
    hourly: { every: "1 h", run: ({ rows, tenantId }) => [rows, tenantId] },
    nightly: { cron: "0 3 * * *", perTenant: false, run: ({ forTenant }) => forTenant("tenant_1").rows },
    // @ts-expect-error either an interval or a cron pattern
    both: { every: "1 h", cron: "0 3 * * *", run: () => {} },
    // @ts-expect-error a run for all tenants has no tenant
    all: { every: "1 h", perTenant: false, run: ({ tenantId }) => tenantId },
  },
});
const categories = resource("category", { fields: { name: text() } });
const films = resource("film", {
  fields: {
    words: list(text()),
    sizes: list(integer(), { optional: true }),
    categories: manyToMany(() => categories),
    boxes: manyToMany(() => categories, { readOnly: true }),
    movies: manyToMany(() => categories, { singular: "movie" }),
  },
  filter: ["words", "categoryIds", "categories.name"],
});
export const film: InputOf<typeof films> = { words: ["a"], categoryIds: ["category_1"], movieIds: [] };
export const filmIds = ({ categoryIds, boxIds, movieIds }: RecordOf<typeof films>): readonly string[] => [
  ...categoryIds,
  ...boxIds,
  ...movieIds,
];
export const ofFilms: Where<typeof films> = {
  OR: [
    { words: ["a", "b"], sizes: { isNull: true }, categoryIds: { notIn: ["category_1"] } },
    { sizes: 5, categories: { some: { name: "a" }, none: { name: "b" } } },
  ],
};
// @ts-expect-error a read-only field
export const readOnlyIds: InputOf<typeof films> = { words: [], boxIds: [] };
// @ts-expect-error lists have no order
export const ofOrder: Where<typeof films> = { words: { gte: "a" } };
// @ts-expect-error a word is no number
export const ofNumber: Where<typeof films> = { words: 5 };
// @ts-expect-error a set is never null
manyToMany(() => categories, { optional: true });
const albums = resource("album", {
  fields: { sheet: file({ max: "1 MB" }), cover: file({ types: ["image/*"], optional: true }) },
  hooks: { before: { create: ({ sheet }) => void sheet.toUpperCase() } },
});
export const album: InputOf<typeof albums> = { sheet: "file_1", cover: null };
export const albumBytes = ({ sheet, cover }: RecordOf<typeof albums>): number =>
  sheet.size + (cover?.size ?? 0);
// @ts-expect-error a file cannot be compared
export const ofSheet: Where<typeof albums> = { sheet: "file_1" };
// @ts-expect-error a file has no default
file({ default: "file_1" });
