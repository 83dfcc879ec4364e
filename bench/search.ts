// Measures pages of a search at the store, without HTTP: `node bench/search.ts [DATABASE_URL]` fills an empty database
// (by default a SQLite file that it deletes afterwards) with 100,000 posts of one tenant and 1,000 of each of 99 others,
// and prints the µs that a page takes and the CPU time of this process. `--posts 10000` fills fewer.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createTenant } from "../packages/portico/src/auth/tenants/tenant.ts";
import { createUser } from "../packages/portico/src/cli/create-user.ts";
import { Engine } from "../packages/portico/src/engine/engine.ts";
import { newId } from "../packages/portico/src/lib/id.ts";
import type { Condition } from "../packages/portico/src/query/condition.ts";
import type { Position, Read, Sort } from "../packages/portico/src/query/read.ts";
import { wholeRow } from "../packages/portico/src/query/selection.ts";
import { assemble, withStore } from "../packages/portico/src/runtime/compose.ts";
import { migrate } from "../packages/portico/src/store/schema/migrate.ts";
import type { Store } from "../packages/portico/src/store/store.ts";
import { postOf } from "./post.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { posts: { type: "string", default: "100000" } },
});
const posts = Number(values.posts);
const otherTenants = 99;
const rowsPerTransaction = 500;
const now = Date.now();
const measureMs = 300;

/** The words of a post, in addition to those of `postOf`: `everyN` is in one post of N. */
function wordsOf(number: number): string {
  const shares = [2, 10, 33, 100, 5_000]
    .filter((share) => number % share === 0)
    .map((share) => `every${share}x`);
  const odd = number % 2 === 1 ? ["otherhalf"] : [];
  const medium = number % 100 === 1 ? ["hundredth"] : number % 10 === 3 ? ["tenth"] : [];
  return [...shares, ...odd, ...medium, `w${(number * 7919) % 9973}`, `v${(number * 104_729) % 997}`].join(
    " ",
  );
}

const searches: Readonly<Record<string, string>> = {
  "in half of the posts": "every2x",
  "in 10 %": "every10x",
  "in 3 %": "every33x",
  "in 1 %": "every100x",
  "in 1 %, far from both ends": "12",
  "in 20 posts": "every5000x",
  "in none": "nowhere",
  "one letter": "e",
  "half and 10 %": "every2x every10x",
  "half and 20 posts": "every2x every5000x",
  "three words": "every2x every10x every100x",
  "1 % and 1 %, never together": "every100x hundredth",
  "10 % and 10 %, never together": "every10x tenth",
  "half and half, never together": "every2x otherhalf",
};

const folder = mkdtempSync(join(tmpdir(), "portico-bench-"));
const databaseUrl = positionals[0] ?? `file:${join(folder, "portico.db")}`;
const environment = {
  ...process.env,
  DATABASE_URL: databaseUrl,
  PORTICO_SECRET: "a secret that is only good for measuring",
};
const assembly = await assemble({ folder: process.cwd(), environment });
const post = assembly.model.resource.get("post")!;
try {
  await withStore(assembly, async (store) => {
    await migrate(store, assembly.tables);
    const each = posts / 100;
    // Rows are inserted in the order of their creation, as a server does.
    for (let rest = otherTenants; rest > 0; rest -= 1)
      await fill(store, `Other ${rest}`, each, posts + (rest - 1) * each);
    const tenantId = await fill(store, "Bench", posts, 0);
    if (store.dialect.name === "postgres") await store.database.run("vacuum analyze");
    for (const [name, q] of Object.entries(searches)) {
      const figures: string[] = [];
      for (const read of readsOf(q)) figures.push(await measured(store, tenantId, read));
      process.stdout.write(`${name.padEnd(32)}${figures.map((each) => each.padStart(15)).join("")}\n`);
    }
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param minutes how long ago the last post was created */
async function fill(store: Store, name: string, count: number, minutes: number): Promise<string> {
  const tenant = await createTenant(store, name);
  const engine = new Engine(assembly.model, store);
  const email = `${name.replace(" ", "")}@example.com`;
  const user = await createUser(engine, store, tenant.id, { email, name, password: "that nobody uses" });
  for (let start = 0; start < count; start += rowsPerTransaction)
    await store.transaction((session) =>
      Promise.all(
        Array.from({ length: Math.min(rowsPerTransaction, count - start) }, (_, index) => {
          const number = start + index;
          const createdAt = new Date(now - (minutes + count - number) * 60_000).toISOString();
          const row = postOf(number);
          const own = { title: `${drawn(number)} ${row.title}`, body: `${row.body} ${wordsOf(number)}` };
          const times = { authorId: user.id, createdAt, updatedAt: createdAt };
          const values = { ...row, ...own, ...times, id: newId("post") };
          return store.writes.insert(session, { resource: post, tenantId: tenant.id, values });
        }),
      ),
    );
  return tenant.id;
}

/** So that the order of titles is not that of creation. */
function drawn(number: number): string {
  return ((Math.imul(number, 2_654_435_761) >>> 0) / 2 ** 32).toString(36).slice(2, 7);
}

/** The default sort, another one, a cursor in the middle, and a filter. */
function readsOf(q: string): Read[] {
  const words = q.split(" ");
  const attribute = (name: string) => post.attribute.get(name)!;
  const page = (position?: Position): Read["page"] => ({
    ...{ style: "cursor", limit: 20, position, isBackward: false },
  });
  const base = { resource: post, selection: wholeRow(post), words, conditions: [] as Condition[] };
  const newest: Sort = [{ attribute: attribute("createdAt"), isDescending: true }];
  const byTitle: Sort = [{ attribute: attribute("title"), isDescending: false }];
  const middle = new Date(Date.now() - (posts / 2) * 60_000).toISOString();
  const published: Condition = { attribute: attribute("status"), operator: "in", values: ["published"] };
  return [
    { ...base, sort: newest, page: page() },
    { ...base, sort: byTitle, page: page() },
    { ...base, sort: newest, page: page({ values: [middle], id: "" }) },
    { ...base, sort: newest, page: page(), conditions: [published] },
    { ...base, sort: byTitle, page: page(), conditions: [published] },
  ];
}

async function measured(store: Store, tenantId: string, read: Read): Promise<string> {
  for (let run = 0; run < 3; run += 1) await store.list(tenantId, read);
  const cpu = process.cpuUsage();
  const began = performance.now();
  let pages = 0;
  while (performance.now() - began < measureMs) {
    await store.list(tenantId, read);
    pages += 1;
  }
  const elapsed = ((performance.now() - began) * 1_000) / pages;
  const { user, system } = process.cpuUsage(cpu);
  return `${elapsed.toFixed(0)} (${((user + system) / pages).toFixed(0)})`;
}
