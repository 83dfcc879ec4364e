// Files over GraphQL, in events, exports and imports.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import { file, json, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { png, sendForm, uploadFile } from "../../support/files.ts";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../../support/server.ts";

const albums = resource("album", {
  fields: { title: text({ max: 100 }), cover: file({ types: ["image/*"], optional: true }) },
  search: ["title"],
});
const photos = resource("photo", {
  parent: albums,
  fields: {
    caption: text({ max: 100, default: "" }),
    image: file({ types: ["image/*"] }),
    meta: json({ default: {} }),
  },
});

const people = users.extend({ fields: { avatar: file({ optional: true }) }, selfEditable: ["avatar"] });

onEachDatabase("files in other protocols", (database) => {
  let workspace: Workspace;
  let server: Portico;
  before(async () => {
    workspace = await makeWorkspace(database);
    const env = { STORAGE_URL: `file:${workspace.folder}/files` };
    server = await Portico.startApp(workspace, app({ name: "Photos", resources: [albums, photos, people] }), {
      env,
    });
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });
  const query = async (text: string, variables: object = {}) => {
    const { body } = await server.request("/graphql", { body: { query: text, variables } });
    assert.equal(body.errors, undefined, JSON.stringify(body.errors));
    return body.data;
  };

  test("a mutation takes the id of an upload, and each way of reading a row has the file", async () => {
    const id = await uploadFile(server, "albums", "cover", png("Ä b.png"));
    const created = await query(
      'mutation ($id: ID!) { createAlbum(input: { title: "Summer", cover: $id }) { id file: cover { kind: __typename id name type size url } } }',
      { id },
    );
    const { id: album, file: cover } = created.createAlbum;
    const { url, ...described } = cover;
    assert.deepEqual(described, { kind: "File", id, name: "Ä b.png", type: "image/png", size: 70 });
    assert.equal((await fetch(url)).status, 200);
    const image = await uploadFile(server, "photos", "image", png("p.png"));
    const photo = await server.request(`/v1/albums/${album}/photos`, {
      body: { image, meta: { "a\nb": "[\n]", image: { id: image } } },
    });
    assert.equal(photo.status, 201, photo.text);
    const read = await query(
      `query ($id: ID!) {
        album(id: $id) { cover { name } }
        node(id: $id) { ... on Album { cover { url name } } }
        albums { cover { size } none: title photos { image { name url } meta album { cover { type } } } }
        albumsConnection { edges { node { cover { id } } other: node { title } } }
        search(q: "summer") { ... on Album { cover { name } } }
      }`,
      { id: album },
    );
    assert.deepEqual(read.album, { cover: { name: "Ä b.png" } });
    assert.deepEqual(Object.keys(read.node.cover), ["url", "name"]);
    assert.equal((await fetch(read.node.cover.url)).status, 200);
    const [{ photos: nested, ...own }] = read.albums;
    assert.deepEqual(own, { cover: { size: 70 }, none: "Summer" });
    assert.equal((await fetch(nested[0].image.url)).status, 200);
    assert.deepEqual(nested[0].meta, { "a\nb": "[\n]", image: { id: image } });
    assert.deepEqual(nested[0].album, { cover: { type: "image/png" } });
    assert.deepEqual(read.albumsConnection.edges, [{ node: { cover: { id } }, other: { title: "Summer" } }]);
    assert.deepEqual(read.search, [{ cover: { name: "Ä b.png" } }]);
    const fields = await server.request(`/v1/photos/${photo.body.id}?fields=album.cover`);
    assert.equal((await fetch(fields.body.album.cover.url)).status, 200);
  });

  test("users have files, which they change themselves", async () => {
    const { key } = (await server.request("/v1/api-keys", { body: { name: "K", scopes: ["albums:read"] } }))
      .body;
    const avatar = await uploadFile(server, "users", "avatar", png("me.png"), key);
    const changed = await server.request("/v1/me", { method: "PATCH", body: { avatar }, key });
    assert.equal(changed.status, 200, changed.text);
    assert.equal((await fetch(changed.body.user.avatar.url)).status, 200);
    const { me } = await query("{ me { user { avatar { name url } } } }");
    assert.deepEqual([me.user.avatar.name, (await fetch(me.user.avatar.url)).status], ["me.png", 200]);
    const refused = await server.request("/v1/uploads", {
      body: { resource: "albums", field: "cover", name: "a.png", type: "image/png", size: 1 },
      key,
    });
    assert.equal(refused.status, 403);
  });

  test("a subscription signs the address of a file", async () => {
    const response = await fetch(`${server.url}/graphql`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${server.key}`,
        "content-type": "application/json",
        accept: "text/event-stream",
      },
      body: JSON.stringify({ query: "subscription { albumCreated { cover { at: url } } }" }),
    });
    await sendForm(server, "/v1/albums", { title: "Live", cover: png("l.png") });
    let received = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      received += chunk;
      if (received.includes("albumCreated")) break;
    }
    const [, at] = /"cover":\{"at":"([^"]+)"\}/.exec(received) ?? [];
    assert.equal((await fetch(at!)).status, 200);
  });

  test("events and exports have a file without its address, and an import leaves it out", async () => {
    const { body: row } = await sendForm(server, "/v1/albums", { title: "Exported", cover: png("e.png") });
    const { url: _, ...stored } = row.cover;
    const { body: events } = await server.request("/v1/events?resource=album&limit=1");
    assert.deepEqual(events.data[0].data.cover, stored);
    const exports = ["ndjson", "csv"].map(async (format) => {
      const exported = await fetch(
        `${server.url}/v1/exports/albums?format=${format}&limit=1&sort=-createdAt`,
        {
          headers: { authorization: `Bearer ${server.key}` },
        },
      );
      return [format, await exported.text()] as const;
    });
    for (const [format, lines] of await Promise.all(exports)) {
      assert.ok(lines.includes(stored.id) && !lines.includes("signature"), lines);
      const send = (query: string) =>
        fetch(`${server.url}/v1/imports/albums${query}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${server.key}`,
            "content-type": format === "csv" ? "text/csv" : "application/x-ndjson",
          },
          body: lines,
        }).then((response) => response.json() as Promise<{ created: number; failed: number }>);
      assert.equal((await send("")).failed, 1);
      const imported = await send("?readOnly=ignore");
      assert.equal(imported.created, 1, JSON.stringify(imported));
    }
    const { body } = await server.request("/v1/albums?fields=title,cover&limit=2");
    assert.deepEqual(
      body.data.map(({ title, cover }: { title: string; cover: unknown }) => [title, cover]),
      [
        ["Exported", null],
        ["Exported", null],
      ],
    );
  });
});
