// portico dev restarts without a failed request, and ends with all its processes.

import assert from "node:assert/strict";
import { Agent, request as httpRequest } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { allEnded, DevelopmentProcess, Project, send } from "../../support/development.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { makeWorkspace, onEachDatabase } from "../../support/server.ts";

const notes = `import { resource, text } from "portico";

export const notes = resource("note", { fields: { title: text({ max: 100 }) } });
`;
const config = `import { app } from "portico";
import { notes } from "./notes.ts";

export default app({ name: process.env.APP_NAME ?? "Notes", resources: [notes] });
`;
const created = "subscription { noteCreated { title } }";

onEachDatabase("portico dev", (database) => {
  test("no request fails while it restarts, and a subscription resumes", async (context) => {
    const workspace = await makeWorkspace(database);
    const project = new Project(workspace, { "notes.ts": notes, "portico.config.ts": config });
    const dev = await DevelopmentProcess.start(workspace, project);
    context.after(async () => {
      await dev.stop("SIGKILL");
      await workspace.remove();
    });
    const { url, key = "" } = await dev.next();
    assert.equal(url, dev.url);
    assert.match(key, /^sk_test_/);

    const stream = await TestStream.open({ url: dev.url, key }, created);
    await send(dev, key, "/notes", { title: "Before" });
    await stream.results(1);
    const callers = new Callers(dev.url, key);
    context.after(() => callers.stop());
    await callers.answered(50);
    project.edit("notes.ts", "{ title:", "{ body: text({ max: 500, optional: true }), title:");
    const { event, changed, changes } = await dev.next();
    await callers.answered(50);
    assert.deepEqual(await callers.stop(), []);
    assert.deepEqual([event, changed], ["restarted", ["notes.ts"]]);
    assert.deepEqual(changes, [
      "resource note, field body: added, text, max: 500, optional: true",
      "database: applied 1 statement",
    ]);

    await stream.ended();
    assert.equal((await send(dev, key, "/notes", { title: "Between", body: "Text" })).body.body, "Text");
    const headers = { "last-event-id": stream.events[0]!.id! };
    const resumed = await TestStream.open({ url: dev.url, key }, created, { headers });
    assert.equal((await resumed.results(1))[0].data.noteCreated.title, "Between");
    resumed.close();

    const { children } = dev;
    assert.ok(children.length > 0);
    assert.equal(await dev.stop("SIGINT"), 0);
    await allEnded(children);
  });
});

/** Between the requests of a caller, so that its connection is idle when it is closed, or is not. */
const pauseMs = 10;

/** Callers that send one request after the other, with connections that stay open and with new ones. */
class Callers {
  readonly #url: string;
  readonly #key: string;
  readonly #failures: string[] = [];
  readonly #loops: readonly Promise<void>[];
  #answers = 0;
  #isStopped = false;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
    const agents = [...Array(6)].map((_, index) =>
      index % 2 === 0 ? new Agent({ keepAlive: true }) : false,
    );
    this.#loops = agents.map(async (agent) => {
      for (; !this.#isStopped; await sleep(pauseMs)) await this.#send(agent);
      if (agent) agent.destroy();
    });
  }

  /** Waits for this many further answers. */
  async answered(count: number): Promise<void> {
    for (const until = this.#answers + count; this.#answers < until; ) await this.#send(false);
  }

  async stop(): Promise<readonly string[]> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
    return this.#failures;
  }

  #send(agent: Agent | false): Promise<void> {
    return new Promise((resolve) => {
      const fail = (error: Error): void => {
        this.#failures.push(String(error));
        resolve();
      };
      const headers = { authorization: `Bearer ${this.#key}` };
      const sent = httpRequest(`${this.#url}/notes`, { agent, headers }, (response) => {
        response.resume().once("error", fail);
        response.once("end", () => {
          this.#answers += 1;
          if (response.statusCode !== 200) this.#failures.push(`${response.statusCode}`);
          resolve();
        });
      });
      sent.once("error", fail).end();
    });
  }
}
