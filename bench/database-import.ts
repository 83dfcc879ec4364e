// The limit of an import on SQLite: how many of the same rows `node:sqlite` alone inserts in a second, with their events, into
// the same tables with the same indexes, as many in each transaction. It validates nothing and asks no policy. Prints the
// number. Runs in a process of its own, started by imports.ts, on the file of a server that does nothing meanwhile.

import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { postOf } from "./post.ts";
import { newPostId } from "./row-id.ts";

type Columns = Record<string, SQLInputValue>;

const rowsOfTransaction = 250;
const unwritten: ReadonlySet<string> = new Set(["row_no", "sequence", "updated_at"]);
const [file, words = ""] = process.argv.slice(2);
const count = Number(words);
const database = new DatabaseSync(file!);
database.exec("pragma synchronous = full; pragma foreign_keys = on; pragma wal_autocheckpoint = 16000");

/** A stored row, whose values the new rows have where they do not differ. */
const post = first("select * from posts limit 1");
const event = first("select * from events where resource = 'post' limit 1");
const insertPost = insertOf("posts", post);
const insertEvent = insertOf("events", event);
const lines = Array.from({ length: count }, (_, number) => JSON.stringify(postOf(number)));

const started = performance.now();
for (let index = 0; index < count; index += rowsOfTransaction) {
  database.exec("begin immediate");
  for (const line of lines.slice(index, index + rowsOfTransaction)) insert(line);
  database.exec("commit");
}
process.stdout.write(JSON.stringify(count / ((performance.now() - started) / 1000)));
database.close();

function insert(line: string): void {
  const { title, body, status } = JSON.parse(line);
  const id = newPostId();
  const now = new Date().toISOString();
  const row = { id, title, body, status, authorId: post.author_id, createdAt: now, updatedAt: now };
  run(insertPost, {
    ...post,
    ...{ id, title, body, status, created_at: now },
    search_words: `${title} ${body}`.toLowerCase(),
  });
  run(insertEvent, {
    ...event,
    ...{ id: newPostId().replace("post", "event"), row_id: id, row: JSON.stringify(row), created_at: now },
  });
}

interface Insertion {
  readonly statement: StatementSync;
  readonly names: readonly string[];
}

/** What SQLite numbers or computes itself is left out. */
function insertOf(table: string, row: Columns): Insertion {
  const names = Object.keys(row).filter((name) => !unwritten.has(name));
  const places = names.map(() => "?");
  return { statement: database.prepare(`insert into ${table} (${names}) values (${places})`), names };
}

function run({ statement, names }: Insertion, values: Columns): void {
  statement.run(...names.map((name) => values[name] ?? null));
}

function first(text: string): Columns {
  return { ...database.prepare(text).get()! };
}
