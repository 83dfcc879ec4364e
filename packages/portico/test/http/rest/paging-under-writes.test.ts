// Many clients follow the pages of a collection while others add and delete rows: a row that exists throughout is
// returned exactly once.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../../support/server.ts";

const readers = 100;
const writers = 4;
const standingRows = 240;

const sorts = ["-createdAt", "createdAt", "title", "-title"];
const statuses = [undefined, "draft", "published"];

interface Walk {
  readonly sort: string;
  readonly status: string | undefined;
  readonly isSearch: boolean;
  readonly limit: number;
  readonly direction: "forward" | "backward";
}

/** Several readers follow every combination of sort, filter and direction; some of them search too. */
function walkOf(reader: number): Walk {
  return {
    sort: sorts[reader % sorts.length]!,
    status: statuses[reader % statuses.length],
    direction: Math.floor(reader / 12) % 2 === 0 ? "forward" : "backward",
    isSearch: reader % 5 === 0,
    limit: 5 + (reader % 17),
  };
}

/** Titles that sort between those of other rows, and are often equal. */
function anyTitle(): string {
  return `Title ${Math.floor(Math.random() * 60)}`;
}

onEachDatabase("pages during concurrent writes", (database) => {
  let workspace: Workspace;
  let portico: Portico;
  before(async () => {
    workspace = await makeWorkspace(database);
    portico = await Portico.start(workspace);
  });
  after(async () => {
    await portico?.stop();
    await workspace?.remove();
  });

  async function create(status: string): Promise<string> {
    const { status: code, body } = await portico.request("/posts", { body: { title: anyTitle(), status } });
    assert.equal(code, 201);
    return body.id;
  }

  /** The ids of all pages, in the order received. */
  async function walk({ sort, status, isSearch, limit, direction }: Walk): Promise<string[]> {
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let hasMore = true; hasMore; ) {
      const parameters = new URLSearchParams({ sort, limit: String(limit), direction });
      if (status !== undefined) parameters.set("status", status);
      // Every title begins with this word.
      if (isSearch) parameters.set("q", "title");
      if (cursor !== null) parameters.set("cursor", cursor);
      const answer = await portico.request(`/posts?${parameters}`);
      assert.equal(answer.status, 200, answer.text);
      const { data, pagination } = answer.body;
      seen.push(...data.map(({ id }: { id: string }) => id));
      hasMore = pagination.hasMore;
      cursor = direction === "forward" ? pagination.nextCursor : pagination.prevCursor;
    }
    return seen;
  }

  test("no row that exists throughout is skipped or returned twice", async () => {
    const permanent = new Map<string, string>();
    await Promise.all(
      Array.from({ length: standingRows }, async (_, index) => {
        const status = index % 2 === 0 ? "draft" : "published";
        permanent.set(await create(status), status);
      }),
    );
    let isOver = false;
    let written = 0;
    const churn = async (): Promise<void> => {
      const own: string[] = [];
      while (!isOver) {
        if (own.length < 20 && Math.random() < 0.6)
          own.push(await create(written % 2 ? "draft" : "published"));
        else if (own.length > 0) {
          const [id] = own.splice(Math.floor(Math.random() * own.length), 1);
          assert.equal((await portico.request(`/posts/${id}`, { method: "DELETE" })).status, 204);
        }
        written++;
      }
    };
    const churning = Array.from({ length: writers }, churn);
    const walks = await Promise.all(
      Array.from({ length: readers }, async (_, reader) => ({ reader, met: await walk(walkOf(reader)) })),
    ).finally(() => {
      isOver = true;
    });
    await Promise.all(churning);
    assert.ok(written > 50, `only ${written} writes ran in parallel`);

    for (const { reader, met: seen } of walks) {
      const { status } = walkOf(reader);
      const expected = [...permanent].filter(([, own]) => status === undefined || own === status);
      const missed = expected.filter(([id]) => !seen.includes(id));
      assert.deepEqual(missed, [], `reader ${reader} skipped rows`);
      assert.equal(new Set(seen).size, seen.length, `reader ${reader} received a row twice`);
    }
  });
});
