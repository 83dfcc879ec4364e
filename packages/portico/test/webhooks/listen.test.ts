// `portico webhook listen`: prints events while one develops, and forwards them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, dirname } from "node:path";
import { test } from "node:test";
import { onEachDatabase, portico, program, projectFolder } from "../support/server.ts";
import { until, verify } from "../support/webhook-receiver.ts";
import { serveWebhooks } from "../support/webhooks.ts";

onEachDatabase("portico webhook listen", (database) => {
  const { server, receiver } = serveWebhooks(database);
  const listen = (...words: string[]) => ["webhook", "listen", ...words];

  /** Starts the command. `printed` waits for a text; `interrupt` ends the command, and returns its exit code. */
  const start = (...words: string[]) => {
    const { PATH = "", HOME = "" } = process.env;
    const env = {
      ...{ HOME, PATH: [dirname(process.execPath), PATH].join(delimiter) },
      DATABASE_URL: server.workspace.databaseUrl,
    };
    const child = spawn(program, listen(...words), {
      ...{ cwd: projectFolder, env, stdio: ["ignore", "pipe", "inherit"] },
    });
    const closed = once(child, "close");
    let output = "";
    child.stdout!.on("data", (chunk) => (output += chunk));
    const printed = (text: string) =>
      until(
        async () => output,
        undefined,
        (all) => all.includes(text),
      );
    const interrupt = async () => {
      child.kill("SIGINT");
      const [code] = await closed;
      return code;
    };
    return { printed, interrupt };
  };

  test("prints the events of a type and forwards them, signed, until it is interrupted", async () => {
    const { printed, interrupt } = start(
      ...["--forward", `${receiver.url}/forwarded`, "--event-types", "post.created"],
    );
    try {
      await printed("Press Ctrl+C");
      const secret = /secret (whsec_\S+)/.exec(await printed("secret"))![1]!;
      const post = await server.create("/posts", { title: "Forwarded" });
      await server.request(`/posts/${post.id}`, { method: "PATCH", body: { title: "Changed" } });
      const last = await server.create("/posts", { title: "Last" });
      const output = await printed(last.id);
      const received = await receiver.waitFor("/forwarded", 2);
      assert.deepEqual(
        received.map(({ body }) => [body.type, body.data]),
        [post, last].map((each) => ["post.created", each]),
      );
      for (const each of received) verify(secret, each);
      const line = new RegExp(`^${post.createdAt}  post\\.created  ${post.id}  204 in \\d+ ms$`, "m");
      assert.match(output, line);
      receiver.respond = (response) => void response.writeHead(500).end();
      const refused = await server.create("/posts", { title: "Refused" });
      await printed(`${refused.id}  The response has the status 500.`);
    } finally {
      assert.equal(await interrupt(), 0);
    }
  });

  test("prints JSON with --json", async () => {
    const words = ["--json", "--event-types", "post.created"];
    const forwarding = start(...words, "--forward", `${receiver.url}/json`);
    const printing = start(...words);
    receiver.respond = (response) => void response.writeHead(204).end();
    try {
      for (const { printed } of [forwarding, printing]) await printed('"listening":true');
      const post = await server.create("/posts", { title: "Printed" });
      const event = { type: "post.created", createdAt: post.createdAt, data: post };
      const objectsOf = async ({ printed }: typeof printing) =>
        (await printed(post.id))
          .trim()
          .split("\n")
          .map((line: string) => JSON.parse(line));
      const [started, forwarded] = await objectsOf(forwarding);
      assert.match(started.secret, /^whsec_/);
      assert.partialDeepStrictEqual(forwarded, { ...event, forwarded: { status: 204, error: null } });
      const objects = await objectsOf(printing);
      assert.partialDeepStrictEqual(objects, [{ listening: true }, event]);
      assert.equal(objects[1].id, forwarded.id);
    } finally {
      await Promise.all([forwarding.interrupt(), printing.interrupt()]);
    }
  });

  test("refuses addresses and types that do not exist", async () => {
    for (const [words, message] of [
      [["--forward", "ftp://127.0.0.1/"], /--forward must be an https URL/],
      [["--event-types", "post.read"], /no events of these types: post\.read/],
      [["--tenant", "tenant_x"], /tenant/],
    ] as const) {
      const { code, stderr } = await portico(server.workspace, listen(...words));
      assert.equal(code, 1);
      assert.match(stderr, message);
    }
  });
});
