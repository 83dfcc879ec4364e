// Servers that a program creates and runs in its own process.

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { after, test } from "node:test";
import { app, createServer, resource, type Server, text } from "../../../src/index.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

const notes = resource("note", { fields: { title: text({ max: 50 }) } });
const declared = app({ name: "Notes", resources: [notes] });

onEachDatabase("embedded servers", (database) => {
  const workspaces: Workspace[] = [];
  const servers: Server[] = [];

  async function start(options: Parameters<typeof createServer>[1] = {}): Promise<Server> {
    const server = await create(options);
    await server.listen();
    return server;
  }

  async function create(options: Parameters<typeof createServer>[1] = {}): Promise<Server> {
    const workspace = await makeWorkspace(database);
    workspaces.push(workspace);
    const server = await createServer(declared, { databaseUrl: workspace.databaseUrl, port: 0, ...options });
    servers.push(server);
    return server;
  }

  after(async () => {
    await Promise.all(servers.map((each) => each.close()));
    await Promise.all(workspaces.map((each) => each.remove()));
  });

  test("several servers run in one process, each with its own database", async () => {
    const [one, other] = await Promise.all([start(), start()]);
    equal((await write(one!, "Of one")).status, 201);
    deepEqual(await titles(one!), ["Of one"]);
    deepEqual(await titles(other!), []);
    equal((await list(one!, other!.sandboxKey)).status, 401);
  });

  test("a closed server refuses connections, and can be closed again", async () => {
    const server = await start();
    await titles(server);
    await Promise.all([server.close(), server.close()]);
    await rejects(fetch(server.url), { message: "fetch failed" });
    await server.close();
  });

  test("a server that is closed while it starts to listen refuses connections", async () => {
    const server = await create();
    await Promise.all([server.listen(), server.close()]);
    await rejects(fetch(server.url), { message: "fetch failed" });
  });

  test("a server that listens answers after a second call of listen, and closes", async () => {
    const server = await create();
    await Promise.all([server.listen(), server.listen()]);
    await server.listen();
    equal((await write(server, "Written")).status, 201);
    await server.close();
    await rejects(fetch(server.url), { message: "fetch failed" });
  });

  test("a closed server does not listen again", async () => {
    const server = await create();
    await server.close();
    await rejects(server.listen(), { message: "the server is closed; create another one" });
  });

  test("a server leaves the listeners of the process alone, and leaves nothing running", async () => {
    const listeners = (): number[] =>
      ["SIGTERM", "SIGINT", "unhandledRejection", "uncaughtException", "exit"].map((name) =>
        process.listenerCount(name),
      );
    const before = listeners();
    const server = await start();
    deepEqual(listeners(), before);
    await write(server, "Written");
    equal((await fetch(`${server.url}/notes?q=x`, withKey(server.sandboxKey))).status, 422);
    await server.close();
    deepEqual(listeners(), before);
  });

  test("the log goes to the destination in the options, and nowhere without one", async () => {
    let lines = "";
    const server = await start({ log: { write: (text) => (lines += text) } });
    await titles(server);
    await server.close();
    const messages = lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).msg);
    ok(messages.includes("request"), lines);
    equal(messages.at(-1), "stopped");
  });

  test("the settings of the app are defaults, and those of the call take precedence", async () => {
    const workspace = await makeWorkspace(database);
    workspaces.push(workspace);
    const described = app({
      name: "Notes",
      resources: [notes],
      settings: { PORT: "0", PORTICO_KEY_QUOTA: "7/60" },
    });
    const options = { databaseUrl: workspace.databaseUrl };
    for (const [settings, limit] of [
      [{}, 7],
      [{ keyQuota: { limit: 9, windowSeconds: 60 } }, 9],
    ] as const) {
      const server = await createServer(described, { ...options, ...settings });
      servers.push(server);
      await server.listen();
      if (server.sandboxKey !== undefined) key = server.sandboxKey;
      match((await list(server, key)).headers.get("ratelimit-policy")!, new RegExp(`q=${limit};w=60`));
      await server.close();
    }
  });

  test("an invalid setting is named as the program wrote it", async () => {
    const refused = (options: object, message: RegExp) => rejects(start(options), { message });
    await refused({ keyQuota: { limit: 0, windowSeconds: 60 } }, /^keyQuota is '0\/60'; write requests/);
    await refused({ port: 70_000 }, /^port is '70000'; it must be a number from 0 to 65535$/);
    await refused({ secrets: ["short"] }, /^secrets must be one value/);
    await refused({ mode: "live" }, /^PORTICO_SECRET is missing/);
    await refused({ mailFrom: { name: "Notes", address: "nobody" } }, /^mailFrom is 'Notes <nobody>'/);
    await refused({ keyQuota: null }, /^keyQuota is null; leave it out for its default$/);
    await refused({ sendsServerTiming: "0" }, /^sendsServerTiming is of the wrong type: string/);
    await refused({ host: ["127.0.0.1"] }, /^host is of the wrong type: object instead of string$/);
    await refused({ host: "127.0.0.1 " }, /^host is '127\.0\.0\.1 '/);
    await refused(
      { databaseURL: "file:x" },
      /^createServer: unknown setting databaseURL; the type ServerOptions lists all$/,
    );
  });

  test("a port in use is reported in one sentence, and the server is closed", async () => {
    const blocker = createTcpServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => blocker.once("listening", resolve));
    const { port } = blocker.address() as AddressInfo;
    await rejects(start({ port }), {
      message: `port ${port} on 127.0.0.1 is taken; set PORT to another one`,
    });
    blocker.close();
  });
});

let key: string | undefined;

function withKey(value: string | undefined): { readonly headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${value}` } };
}

function list(server: Server, value = server.sandboxKey): Promise<Response> {
  return fetch(`${server.url}/notes`, withKey(value));
}

async function titles(server: Server): Promise<string[]> {
  const { data } = (await (await list(server)).json()) as { data: { title: string }[] };
  return data.map(({ title }) => title);
}

function write(server: Server, title: string): Promise<Response> {
  const { headers } = withKey(server.sandboxKey);
  return fetch(`${server.url}/notes`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ title }),
  });
}
