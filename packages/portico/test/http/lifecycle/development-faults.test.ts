// portico dev while declarations are faulty: it says what is wrong, and where, and serves the last good version.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { allEnded, DevelopmentProcess, Project, send } from "../../support/development.ts";
import { makeWorkspace, portico, type Workspace } from "../../support/server.ts";

const notes = `import { range, resource, text } from "portico";

export const notes = resource("note", {
  fields: { title: text({ max: 100 }), body: text({ max: 500, optional: true }) },
  filter: ["titel", range("createdAt")],
});
`;
const config = `import { app, route } from "portico";
import { notes } from "./resources/notes.ts";

const crash = route("POST /v1/crash", { scope: null }, () => {
  setImmediate(() => {
    throw new Error("crash");
  });
});
export default app({ name: "Notes", resources: [notes], routes: [crash] });
`;

describe("portico dev with faulty declarations", () => {
  let workspace: Workspace;
  let project: Project;
  let dev: DevelopmentProcess;
  let key = "";

  before(async () => {
    workspace = await makeWorkspace("sqlite");
    project = new Project(workspace, { "resources/notes.ts": notes, "portico.config.ts": config });
    dev = await DevelopmentProcess.start(workspace, project);
  });

  after(async () => {
    await dev.stop("SIGKILL");
    await workspace.remove();
  });

  test("a faulty first version is explained, with its position, until it is fixed", async () => {
    const fault = await dev.next();
    assert.equal(fault.event, "faulty");
    assert.equal(fault.isServed, false);
    const message = /^resource note, filter: there is no field titel; .*\(resources\/notes\.ts:5:3\)$/;
    assert.match(fault.message!, message);
    const refused = await send(dev, key, "/notes");
    assert.equal(refused.status, 503);
    assert.match(refused.body.error.message, message);
    // Code that ends the process, or never ends, reports no files. Those that it has loaded are watched all the same.
    const text = project.read("resources/notes.ts").replace("titel", "title");
    project.write("resources/notes.ts", `process.exit(3);\n${text}`);
    assert.match((await dev.next()).message!, /ended with code 3$/);
    const hanging = 'import { writeFileSync } from "node:fs";\nwriteFileSync("hangs", "");\nfor (;;);\n';
    project.write("resources/notes.ts", hanging + text);
    while (!existsSync(join(project.folder, "hangs"))) await sleep(10);
    project.write("resources/notes.ts", text);
    key = (await dev.next()).key!;
    assert.equal((await send(dev, key, "/notes", { title: "One", body: "Text" })).status, 201);
  });

  test("the last good version is served while a file is missing or a migration is refused", async () => {
    const text = project.read("resources/notes.ts");
    project.remove("resources/notes.ts");
    const missing = await dev.next();
    assert.match(missing.message!, /Cannot find module.*\(portico\.config\.ts:2:18\)$/);
    assert.equal(missing.isServed, true);
    assert.equal((await send(dev, key, "/notes")).status, 200);
    // Another file of the same name appears, as when an editor saves it.
    project.replace("resources/notes.ts", text.replace("body:", "content:"));
    const { message } = await dev.next();
    assert.match(message!, /declare was: "body".*--drop notes\.body.* \(resources\/notes\.ts:4:40\)/s);
    assert.equal((await send(dev, key, "/notes")).body.data[0].body, "Text");
    // Many edits within a moment are one change.
    for (let max = 500; max <= 520; max += 1)
      project.write(
        "resources/notes.ts",
        text.replace("body: text({ max: 500", `content: text({ was: "body", max: ${max}`),
      );
    const { changes } = await dev.next();
    assert.deepEqual(changes, [
      "resource note, field body: removed",
      'resource note, field content: added, text, was: "body", max: 520, optional: true',
    ]);
    assert.equal((await send(dev, key, "/notes")).body.data[0].content, "Text");
  });

  test("a version that crashes is started again, and no process outlives the command", async () => {
    assert.equal((await send(dev, key, "/v1/crash", {})).status, 204);
    const ended = await dev.next();
    assert.deepEqual([ended.event, ended.isRestarting], ["ended", true]);
    assert.equal((await dev.next()).event, "restarted");
    assert.equal((await send(dev, key, "/notes")).status, 200);
    const { children } = dev;
    assert.ok(children.length > 0);
    await dev.stop("SIGKILL");
    await allEnded(children);
  });
});

test("portico dev refuses live mode", async () => {
  const env = { PORTICO_MODE: "live" };
  const { code, stderr } = await portico({ databaseUrl: "file:/dev/null/portico.db" }, ["dev"], { env });
  assert.equal(code, 1);
  assert.equal(stderr, "portico: portico dev serves a sandbox only; in live mode use portico serve\n");
});
