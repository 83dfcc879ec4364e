// An app whose rows are deleted softly: boards with topics, replies to topics, and pins that go with their topic.

import { app, belongsTo, choice, integer, range, resource, text, users } from "portico";

export const labels = resource("label", {
  fields: { name: text({ max: 50, unique: true }) },
  softDelete: true,
});

export const boards = resource("board", {
  fields: { name: text({ max: 50 }) },
});

export const topics = resource("topic", {
  parent: boards,
  fields: {
    title: text({ max: 100 }),
    slug: text({ max: 50, unique: true }),
    rank: integer({ default: 0 }),
    secret: text({ optional: true, internal: true }),
    label: belongsTo(() => labels, { optional: true }),
    author: belongsTo(() => users, { default: "caller" }),
  },
  filter: ["slug", "labelId", "label.name", range("rank")],
  sort: ["title", "rank"],
  search: ["title"],
  nestedUnder: ["author", "tenant"],
  softDelete: { purgeAfterDays: 30 },
  hooks: {
    before: {
      create: ({ title }) => ({ secret: `secret of ${title}` }),
    },
  },
});

export const replies = resource("reply", {
  plural: "replies",
  parent: topics,
  fields: { body: text({ max: 200 }), mood: choice(["good", "bad"], { default: "good" }) },
  search: ["body"],
  softDelete: true,
});

/** Not deleted softly by itself, but with its topic. */
export const pins = resource("pin", {
  fields: {
    name: text({ max: 50, unique: true }),
    topic: belongsTo(() => topics, { onDelete: "cascade" }),
  },
});

export default app({ name: "Forum", resources: [labels, boards, topics, replies, pins] });
