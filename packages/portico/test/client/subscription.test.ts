// Subscriptions of the client outlive connections and servers.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { createClient } from "portico/client";
import service from "../../../../portico.config.ts";
import { freePort } from "../support/free-port.ts";
import { makeWorkspace, onEachDatabase, Portico, PorticoProcess } from "../support/server.ts";

/** What a client receives, and whom it tells that it is connected. */
class Receiver {
  readonly names: string[] = [];
  readonly controller = new AbortController();
  readonly opened = new EventTarget();
  readonly ended: Promise<unknown>;
  #waiting: (() => void) | undefined;

  constructor(baseUrl: string, credential: string) {
    const client = createClient<typeof service>({ baseUrl, credential });
    this.ended = this.#read(client);
    this.ended.catch(() => {});
  }

  async #read(client: ReturnType<typeof createClient<typeof service>>): Promise<void> {
    const { signal } = this.controller;
    const onOpen = (): void => void this.opened.dispatchEvent(new Event("open"));
    for await (const { type, data } of client.subscribe("project.created", { signal, onOpen })) {
      assert.equal(type, "project.created");
      assert.match(data.id, /^project_/);
      this.names.push(data.name);
      this.#waiting?.();
    }
  }

  async received(count: number): Promise<void> {
    while (this.names.length < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting = resolve;
      await Promise.race([promise, this.ended]);
    }
  }
}

test("no event is lost or repeated when the server is killed", async () => {
  const workspace = await makeWorkspace("sqlite");
  const env = { PORT: String(await freePort()) };
  let server = await PorticoProcess.start(workspace, { env });
  const { key, url } = server;
  const writer = createClient<typeof service>({ baseUrl: url, credential: key });
  const receiver = new Receiver(url, key);
  try {
    await once(receiver.opened, "open");
    await writer.projects.create({ name: "first" });
    await receiver.received(1);
    await server.kill();
    server = await PorticoProcess.start(workspace, { env, key });
    for (const name of ["second", "third"]) await writer.projects.create({ name });
    await receiver.received(3);
    assert.deepEqual(receiver.names, ["first", "second", "third"]);
    receiver.controller.abort(new Error("enough"));
    await assert.rejects(receiver.ended, { message: "enough" });
  } finally {
    await server.stop();
    await workspace.remove();
  }
});

onEachDatabase("subscriptions of the client", (database) => {
  test("they go on after a restart, and end when the credential is revoked", async () => {
    const workspace = await makeWorkspace(database);
    const env = { PORT: String(await freePort()) };
    let server = await Portico.startApp(workspace, service, { env });
    const { key, url } = server;
    const client = createClient<typeof service>({ baseUrl: url, credential: key });
    const reader = await client.apiKeys.create({
      name: "Reader",
      scopes: ["projects:read", "posts:read", "users:read"],
    });
    const receiver = new Receiver(url, reader.key);
    try {
      await once(receiver.opened, "open");
      // Before the first event, the client knows only where the subscription began.
      await server.stop();
      server = await Portico.startApp(workspace, service, { env, key });
      for (const name of ["first", "second"]) await client.projects.create({ name });
      await receiver.received(2);
      assert.deepEqual(receiver.names, ["first", "second"]);

      const readers = createClient<typeof service>({ baseUrl: url, credential: reader.key });
      const opened = Promise.withResolvers<void>();
      const drafts = readers.subscribe("post.updated", {
        filter: { status: ["published"], authorId: { ne: "user_other" } },
        fields: ["title", "author.name"],
        onOpen: opened.resolve,
      });
      const next = drafts.next();
      await opened.promise;
      const post = await client.posts.create({ title: "Draft" });
      await client.posts.update(post.id, { title: "Still a draft" });
      await client.posts.update(post.id, { title: "Out", status: "published" });
      const { value } = await next;
      assert.deepEqual(
        { ...value.data, author: value.data.author?.name },
        { id: post.id, title: "Out", author: "Ada Lovelace" },
      );
      const comments = client.subscribe("comment.deleted", { parent: { postId: post.id }, after: value.id });
      const { id } = await client.posts(post.id).comments.create({ body: "Short-lived" });
      await client.comments.delete(id);
      const deleted = await comments.next();
      assert.equal(deleted.value.data.body, "Short-lived");
      await comments.return?.(undefined);

      await client.apiKeys.delete(reader.id);
      await assert.rejects(receiver.ended, { name: "PorticoError", code: "invalid_credential" });
    } finally {
      receiver.controller.abort();
      await server.stop();
      await workspace.remove();
    }
  });
});
