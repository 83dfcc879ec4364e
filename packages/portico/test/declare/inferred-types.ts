// Types inferred from declarations: `tsc` fails if one of them is wrong.

import {
  belongsTo,
  boolean,
  type ChangesOf,
  choice,
  type InputOf,
  id,
  integer,
  json,
  number,
  type RecordOf,
  type Rows,
  range,
  resource,
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
}

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
