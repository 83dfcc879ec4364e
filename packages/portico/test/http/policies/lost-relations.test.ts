// Rows that a policy hides because of related rows, `{ bans: { none: ... } }`, stay hidden when they or the related rows are
// deleted: in events that were recorded before, and among the deleted rows.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  app,
  belongsTo,
  boolean,
  manyToMany,
  type PolicyContext,
  type Resource,
  resource,
  text,
  timestamp,
  users,
} from "../../../src/index.ts";
import { makeKey } from "../../support/keys.ts";
import { makeUser } from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";
import { send } from "./row-requests.ts";

interface Case {
  /** What hides the rows. */
  readonly fact: string;
  readonly rows: Resource;
  readonly related: readonly Resource[];
  /** Adds what decides about a row, before or after it is created. @returns members of its body */
  readonly before?: (add: Add, isHidden: boolean) => Promise<object>;
  readonly after?: (add: Add, isHidden: boolean, id: string) => Promise<unknown>;
  /** Whether others see the deleted row and the event of its deletion. */
  readonly isKnown: boolean;
}

/** Creates a row at a path. @returns its id */
type Add = (path: string, body: object) => Promise<string>;

const title = text({ max: 50 });
const name = text({ max: 50 });
const softDelete = true;
let bob = "";

/** Restricts all but owners. */
const restricted =
  (condition: (context: PolicyContext) => object) =>
  // The compiler does not know collections, so that a policy can name any.
  (context: PolicyContext): boolean =>
    context.caller.role === "owner" || (condition(context) as unknown as boolean);

/** Rows that a ban hides from a user. */
function bannedBy(
  word: string,
  fact: string,
  isKnown: boolean,
  onDelete: "cascade" | "setNull",
  options: { readonly rows?: object; readonly bans?: object; readonly fields?: object } = {},
): Case {
  const rows: Resource = resource(word, {
    fields: { title },
    policy: restricted(({ caller }) => ({ [`${word}Bans`]: { none: { userId: caller.userId } } })),
    ...options.rows,
  });
  const bans = resource(`${word}Ban`, {
    fields: {
      row: belongsTo(() => rows, { onDelete, optional: true }),
      user: belongsTo(() => users),
      ...options.fields,
    },
    ...options.bans,
  });
  const after: Case["after"] = (add, isHidden, rowId) =>
    isHidden ? add(`/${word}-bans`, { rowId, userId: bob }) : Promise.resolve();
  return { fact, rows, related: [bans], after, isKnown };
}

const labels = resource("label", { fields: { name }, softDelete });
const tagged = resource("tagged", {
  fields: { title, labels: manyToMany(() => labels) },
  softDelete,
  policy: restricted(() => ({ NOT: { labels: { some: { name: "secret" } } } })),
});
const allowed = resource("allowed", {
  fields: { title, labels: manyToMany(() => labels) },
  softDelete,
  policy: restricted(() => ({ labels: { some: { name: "public" } } })),
});
const trials = resource("trial", { fields: { isSecret: boolean() }, softDelete });
const memos = resource("memo", {
  fields: { title, trial: belongsTo(() => trials, { onDelete: "cascade" }) },
  softDelete,
  policy: restricted(() => ({ NOT: { trial: { isSecret: true } } })),
});
const reviews: Resource = resource("review", {
  fields: { title },
  softDelete,
  policy: restricted(({ caller }) => ({ vetoes: { none: { userId: caller.userId } } })),
});
const vetoes = resource("veto", {
  plural: "vetoes",
  parent: reviews,
  fields: { user: belongsTo(() => users) },
});

const cases: readonly Case[] = [
  bannedBy("note", "rows that are deleted with the row", true, "cascade"),
  bannedBy("letter", "rows that are deleted softly with the row", true, "cascade", { rows: { softDelete } }),
  bannedBy("page", "rows whose reference becomes null", false, "setNull", { rows: { softDelete } }),
  bannedBy("poem", "rows that are only marked as deleted", false, "cascade", {
    rows: { softDelete },
    fields: { endedAt: timestamp({ optional: true, readOnly: true }) },
    bans: { markOnDelete: "endedAt" },
  }),
  bannedBy("song", "rows without events", false, "cascade", { bans: { events: false } }),
  {
    fact: "a row of a many-to-many field",
    rows: tagged,
    related: [labels],
    before: async (add, isHidden) => ({
      labelIds: [await add("/labels", { name: isHidden ? "secret" : "plain" })],
    }),
    isKnown: true,
  },
  {
    fact: "no row of a many-to-many field",
    rows: allowed,
    related: [],
    before: async (add, isHidden) => ({
      labelIds: [await add("/labels", { name: isHidden ? "plain" : "public" })],
    }),
    isKnown: true,
  },
  {
    fact: "the row that it refers to",
    rows: memos,
    related: [trials],
    before: async (add, isSecret) => ({ trialId: await add("/trials", { isSecret }) }),
    isKnown: true,
  },
  {
    fact: "its children",
    rows: reviews,
    related: [vetoes],
    after: (add, isHidden, id) =>
      isHidden ? add(`/reviews/${id}/vetoes`, { userId: bob }) : Promise.resolve(),
    isKnown: true,
  },
];

const resources = cases.flatMap(({ rows, related }) => [rows, ...related]);
const scopes = cases.flatMap(({ rows }) => [`${rows.name}s:read`, `${rows.name}s:write`]);
const declared = app({ name: "Desk", resources, roles: { owner: "*", member: [...scopes, "events:read"] } });

onEachDatabase("rows that related rows hide, and their deletion", (database) => {
  let key = "";
  const server = serve(database, {
    app: declared,
    prepare: async (started) => {
      bob = (await makeUser(started, "bob@example.com")).id;
      key = (await makeKey(started, { ownerId: bob, scopes: ["*"] })).key;
    },
  });
  const add: Add = async (path, body) => (await server.create(path, body)).id;
  const remove = async (path: string): Promise<void> => {
    const { status, text } = await server.request(path, { method: "DELETE" });
    assert.equal(status, 204, `${path}: ${text}`);
  };
  const asBob = (path: string, body?: object): Promise<Answer> => send(server, { path, body }, key);

  for (const { fact, rows, before, after, isKnown } of cases) {
    const path = `/${rows.name}s`;
    /** Creates, changes and deletes a row. @returns its id, and the paths of what was added before it */
    const live = async (isHidden: boolean): Promise<{ id: string; others: readonly string[] }> => {
      const word = isHidden ? "hidden" : "open";
      const others: string[] = [];
      const note: Add = async (at, body) => {
        const id = await add(at, body);
        others.push(`${at}/${id}`);
        return id;
      };
      const id = await add(path, { title: `${word} first`, ...(await before?.(note, isHidden)) });
      await after?.(add, isHidden, id);
      const changed = await server.request(`${path}/${id}`, {
        method: "PATCH",
        body: { title: `${word} again` },
      });
      assert.equal(changed.status, 200, changed.text);
      assert.equal((await asBob(`${path}/${id}`)).status, isHidden ? 404 : 200);
      await remove(`${path}/${id}`);
      return { id, others };
    };
    const events = async (): Promise<string> => (await asBob(`/v1/events?resource=${rows.name}`)).text;
    const isSoft = Boolean(rows.declaration.softDelete);

    test(`by ${fact}: hidden before, hidden after`, async () => {
      const { id, others } = await live(true);
      const expectNothing = async (): Promise<void> => {
        assert.doesNotMatch(await events(), /hidden/);
        assert.doesNotMatch((await asBob("/v1/exports/events")).text, /hidden/);
        if (!isSoft) return;
        assert.doesNotMatch((await asBob(`${path}?deleted=true`)).text, /hidden/);
        assert.equal((await asBob(`${path}/${id}?deleted=true`)).status, 404);
        assert.equal((await asBob(`${path}/${id}/restorations`, {})).status, 404);
      };
      await expectNothing();
      for (const other of others) await remove(other);
      await expectNothing();
    });

    test(`by ${fact}: ${isKnown ? "others see the deletion" : "nobody learns of the deletion"}`, async () => {
      const { id } = await live(false);
      if (isKnown) assert.match(await events(), new RegExp(`${rows.name}.deleted[^}]*${id}`));
      if (isSoft) assert.equal((await asBob(`${path}/${id}?deleted=true`)).status, isKnown ? 200 : 404);
      assert.equal((await server.request(`/v1/events?resourceId=${id}`)).body.data.length, 3);
    });
  }
});
