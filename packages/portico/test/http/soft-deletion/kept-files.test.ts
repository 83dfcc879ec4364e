// The files of rows that are deleted softly, their lists and their counts: they come back with the row, and go with it for
// good.

import assert from "node:assert/strict";
import { test } from "node:test";
import { users } from "../../../src/auth/users/resource.ts";
import { deletedRowsRetention } from "../../../src/engine/purged-rows.ts";
import { app, count, file, list, type Resource, resource, text } from "../../../src/index.ts";
import { Purge } from "../../../src/jobs/purge.ts";
import { buildModel } from "../../../src/model/build-model.ts";
import { openStore } from "../../../src/store/open.ts";
import { openReader, writeDirectly } from "../../support/database-reader.ts";
import { sendForm, textFile } from "../../support/files.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const folders = resource("folder", {
  fields: { name: text({ max: 50 }), notes: count((): Resource => notes) },
});
const notes: Resource = resource("note", {
  parent: folders,
  fields: {
    title: text({ max: 50 }),
    tags: list(text({ max: 20 }), { default: [] }),
    attachment: file({ max: "1 MB", types: ["text/plain"], optional: true }),
  },
  filter: ["tags"],
  softDelete: { purgeAfterDays: 30 },
});
const declared = app({ name: "Files", resources: [folders, notes] });

onEachDatabase("what belongs to rows that are deleted softly", (database) => {
  const server = serve(database, { app: declared });
  const remove = (path: string): Promise<Answer> => server.request(path, { method: "DELETE" });

  test("files, elements of lists and counts", async () => {
    const folder = await server.create("/folders", { name: "Folder" });
    const collection = `/folders/${folder.id}/notes`;
    const ids: string[] = [];
    for (const title of ["restored", "purged", "with its folder"]) {
      const form = { title, tags: '["red"]', attachment: textFile("a.txt", title) };
      const { status, body, text: answer } = await sendForm(server.portico, collection, form);
      assert.equal(status, 201, answer);
      ids.push(body.id);
    }
    const [restored, purged, last] = ids as [string, string, string];
    const statuses = async (): Promise<unknown[]> => {
      const reader = openReader(server.workspace.databaseUrl);
      try {
        return (await reader.rows("select status from stored_files order by id")).flat();
      } finally {
        await reader.close();
      }
    };
    const shown = async (): Promise<unknown[]> => [
      (await server.request(`${collection}?tags=red`)).body.data.length,
      (await server.request(`${collection}?tags=red&deleted=true`)).body.data.length,
      (await server.request(`/folders/${folder.id}?fields=notes`)).body.notes,
    ];
    assert.deepEqual(await shown(), [3, 0, 3]);
    for (const id of ids) expectAnswer(await remove(`/notes/${id}`), { status: 204 });
    assert.deepEqual(await shown(), [0, 3, 0]);
    assert.deepEqual(await statuses(), ["attached", "attached", "attached"]);
    const { body } = await server.request(`/notes/${restored}?deleted=true`);
    assert.equal(await (await fetch(body.attachment.url)).text(), "restored");
    expectAnswer(await server.request(`/notes/${restored}/restorations`, { method: "POST" }), {
      status: 201,
    });
    assert.deepEqual(await shown(), [1, 2, 1]);

    const { databaseUrl } = server.workspace;
    await writeDirectly(
      databaseUrl,
      `update deleted_notes set deleted_at = '2020-01-01T00:00:00.000Z' where id = '${purged}'`,
    );
    const store = await openStore(databaseUrl);
    try {
      const retention = deletedRowsRetention(store, buildModel(declared, [users]));
      await new Purge(store, retention, (message) => assert.fail(message)).purgeAll();
    } finally {
      await store.database.close();
    }
    assert.deepEqual(await shown(), [1, 1, 1]);
    const given = async () => (await statuses()).filter((each) => each === "attached").length;
    assert.equal(await given(), 2);
    // The deleted note cannot be restored without its folder.
    expectAnswer(await remove(`/folders/${folder.id}`), { status: 204 });
    expectAnswer(await server.request(`/notes/${last}/restorations`, { method: "POST" }), { status: 404 });
    assert.equal(await given(), 0);
  });
});
