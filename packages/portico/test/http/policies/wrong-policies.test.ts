// Invalid policies: one found at start stops the server; one found later is an error of the request, is logged, and
// never reveals a row.

import assert from "node:assert/strict";
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { expectError, requestGraphql } from "../../support/graphql/request.ts";
import { subscriptionStarted, withStream } from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { expectAnswer } from "../../support/scenario.ts";
import {
  makeWorkspace,
  onEachDatabase,
  PorticoProcess,
  porticoProcess,
  projectFolder,
  type RequestOptions,
  type Workspace,
} from "../../support/server.ts";

/** A project whose policy is an expression. */
function makeProject(inFolder: string, policy: string): string {
  const folder = mkdtempSync(join(inFolder, "project-"));
  symlinkSync(join(projectFolder, "node_modules"), join(folder, "node_modules"));
  writeFileSync(
    join(folder, "portico.config.ts"),
    `import { readFileSync } from "node:fs";
     import { app, belongsTo, Problem, resource, text } from "portico";
     const notes = resource("note", { fields: { title: text({ max: 50 }) }, search: ["title"], nestedUnder: ["tenant"], policy: ${policy} });
     const remarks = resource("remark", { parent: notes, fields: { body: text({ max: 50 }) } });
     const tags = resource("tag", { fields: { note: belongsTo(() => notes, { optional: true }) } });
     export default app({ name: "Notes", resources: [notes, remarks, tags] });`,
  );
  return folder;
}

test("a policy that names an unknown field stops every command with one line", async () => {
  const workspace = await makeWorkspace("sqlite");
  try {
    const cwd = makeProject(workspace.folder, `({ caller }) => ({ titel: caller.userId })`);
    for (const words of [["serve"], ["migrate"], ["migrate", "--dry-run"], ["key", "list"]]) {
      const { code, stderr, stdout } = await porticoProcess(workspace, words, { cwd, env: { PORT: "0" } });
      assert.equal(code, 1, words.join(" "));
      assert.equal(
        stderr,
        "portico: resource note, field titel: its policy names it, but there is no such field; use one of id, title, createdAt, updatedAt, remarks, tags\n",
      );
      assert.equal(stdout, "");
    }
  } finally {
    await workspace.remove();
  }
});

/** Ways in which a policy that was valid at start fails later. */
const failures = {
  throws: {
    code: `(() => { throw new Error("secret of the policy"); })()`,
    log: /Error: secret of the policy/,
  },
  "throws a problem": {
    code: `(() => { throw new Problem("not_found", "secret problem"); })()`,
    log: /Problem: secret problem/,
  },
  "names an unknown field": { code: `({ titel: "a" })`, log: /field titel: its policy names it/ },
  "compares with a value of another type": { code: `({ title: 5 })`, log: /not text/ },
  "returns null": { code: "null", log: /its policy returns null/ },
  "returns a promise": { code: "Promise.resolve(undefined)", log: /its policy returns a promise/ },
  "returns a promise that fails": {
    code: `Promise.reject(new Error("later"))`,
    log: /its policy returns a promise/,
  },
  "returns promises that fail inside a condition": {
    code: `({ OR: [{ title: Promise.reject(new Error("later")) }, { NOT: { title: { in: [undefined, Promise.reject(new Error("last"))] } } }] })`,
    log: /field title: its policy compares it with/,
  },
};

onEachDatabase("a policy that fails while the server runs", (database) => {
  let workspace: Workspace;
  let server: PorticoProcess;
  let answerFile = "";
  let note = "";
  let remark = "";
  let tag = "";
  before(async () => {
    workspace = await makeWorkspace(database);
    answerFile = join(workspace.folder, "answer");
    writeFileSync(answerFile, "true");
    const cwd = makeProject(
      workspace.folder,
      `() => eval(readFileSync(${JSON.stringify(answerFile)}, "utf8"))`,
    );
    server = await PorticoProcess.start(workspace, { cwd });
    const make = async (path: string, body: object): Promise<string> =>
      (await server.request(path, { body })).body.id;
    note = await make("/notes", { title: "hidden words" });
    remark = await make(`/notes/${note}/remarks`, { body: "hidden words" });
    tag = await make("/tags", { noteId: note });
  });
  after(async () => {
    await server?.stop();
    await workspace?.remove();
  });

  const requests = (): readonly (readonly [path: string, options: RequestOptions])[] => [
    ["/notes", {}],
    ["/notes", { body: { title: "x" } }],
    ["/notes?q=hidden", {}],
    ["/v1/exports/notes", {}],
    ["/v1/exports/remarks?total=true", {}],
    ["/v1/events?resource=note", {}],
    [`/notes/${note}`, {}],
    [`/notes/${note}`, { method: "PATCH", body: { title: "x" } }],
    [`/notes/${note}`, { method: "DELETE" }],
    [`/notes/${note}/remarks`, {}],
    [`/notes/${note}/remarks`, { body: { body: "x" } }],
    [`/remarks/${remark}`, {}],
    ["/tags?fields=note.title", {}],
    ["/tags", { body: { noteId: note } }],
    [`/tags/${tag}`, { method: "PATCH", body: { noteId: `note_${"0".repeat(26)}` } }],
  ];
  const documents = (): readonly string[] => [
    "{ notes { title } }",
    '{ search(q: "hidden") { ... on Note { title } } }',
    "{ tags { note { title } } }",
    `{ remark(id: "${remark}") { body } }`,
    `{ node(id: "${note}") { id } }`,
    `mutation { updateNote(id: "${note}", input: { title: "x" }) { id } }`,
  ];
  const leaked = /secret|titel|hidden words/;

  for (const [name, { code, log }] of Object.entries(failures)) {
    test(`a policy that ${name} is an internal error everywhere, and ends subscriptions`, async () => {
      const logBegins = server.output.length;
      await withStream(
        server,
        `subscription { remarkCreated(noteId: "${note}") { body } }`,
        {},
        async (stream) => {
          const socket = await TestSocket.ready(server);
          socket.subscribe("1", "subscription { noteUpdated { title } }");
          await subscriptionStarted();
          writeFileSync(answerFile, code);
          const failed = await socket.message(({ type }) => type === "error");
          assert.match(JSON.stringify(failed), /internal_error/);
          assert.doesNotMatch(JSON.stringify(socket.messages), leaked);
          await socket.close();
          await stream.ended();
          assert.match(stream.text, /internal_error/);
          assert.doesNotMatch(stream.text, leaked);
        },
      );
      for (const [path, options] of requests()) {
        const answer = await server.request(path, options);
        expectAnswer(answer, { status: 500, code: "internal_error" });
        assert.doesNotMatch(answer.text, leaked);
      }
      const line = JSON.stringify({ noteId: note, body: "x" });
      const imported = await server.request("/v1/imports/remarks", {
        ...{ body: line, headers: { "content-type": "application/x-ndjson" } },
      });
      assert.equal(imported.body.errors[0].error.code, "internal_error", imported.text);
      assert.doesNotMatch(imported.text, leaked);
      for (const document of documents()) {
        const answer = await requestGraphql(server, document);
        expectError(answer, { code: "internal_error" });
        assert.doesNotMatch(answer.text, leaked);
      }
      // Requests that the policy does not affect still work.
      expectAnswer(await server.request("/tags"), { status: 200 });
      // Log lines are buffered for at most a quarter of a second.
      const logged = (): string => server.output.slice(logBegins);
      for (let tries = 0; tries < 100 && !log.test(logged()); tries += 1) await sleep(20);
      assert.match(logged(), log);
      writeFileSync(answerFile, "true");
      expectAnswer(await server.request(`/notes/${note}`), { status: 200, body: { title: "hidden words" } });
    });
  }
});
