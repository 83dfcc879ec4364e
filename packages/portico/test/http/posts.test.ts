// Posts over HTTP: the table of methods of the specification.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makePlace, onEachDatabase, type Place, Portico } from "../server.ts";

onEachDatabase("posts", (database) => {
  let place: Place;
  let portico: Portico;
  before(async () => {
    place = await makePlace(database);
    portico = await Portico.start(place);
  });
  after(async () => {
    await portico?.stop();
    await place?.remove();
  });

  test("a post that is created can be read where Location says", async () => {
    const created = await portico.request("/posts", { body: { title: "Hello" } });
    assert.equal(created.status, 201);
    assert.equal(created.headers.get("location"), `/posts/${created.body.id}`);
    const read = await portico.request(created.headers.get("location")!);
    assert.equal(read.status, 200);
    assert.deepEqual(read.body, created.body);
  });
});
