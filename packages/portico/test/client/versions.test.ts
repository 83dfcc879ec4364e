// The client of an app with several versions: it calls the current one everywhere.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "portico/client";
import gazette from "../fixtures/gazette/portico.config.ts";
import { makeWorkspace, onEachDatabase, Portico } from "../support/server.ts";

onEachDatabase("the client of a second version", (database) => {
  test("rows, files, imports, exports and events have the names of the current version", async () => {
    const server = await Portico.startApp(await makeWorkspace(database), gazette);
    const sent: string[] = [];
    const client = createClient<typeof gazette>({
      baseUrl: server.url,
      credential: server.key,
      version: "v2",
      onResponse: ({ url }) => sent.push(new URL(url).pathname),
    });
    try {
      const cover = new Blob(["white"], { type: "text/plain" });
      const article = await client.articles.create({ headline: "Snow", slug: "snow", cover });
      assert.deepEqual([article.headline, article.cover?.size], ["Snow", 5]);
      const imported = await client.articles.import([{ headline: "Rain", slug: "rain", teaser: "Wet" }]);
      assert.deepEqual(imported, { created: 1, updated: 0, failed: 0, errors: [] });
      const exported: unknown[] = [];
      const query = { headline: ["Rain", "Snow"], sort: "headline", fields: ["headline", "teaser"] } as const;
      for await (const { headline, teaser } of client.articles.export(query))
        exported.push([headline, teaser]);
      assert.deepEqual(exported, [
        ["Rain", "Wet"],
        ["Snow", ""],
      ]);
      const [event] = (await client.events.list({ resourceId: article.id })).data;
      assert.equal(event?.data["headline"], "Snow");
      assert.equal((await client.events.get(event!.id)).id, event!.id);
      for await (const { data } of client.events.export({ resourceId: article.id }))
        assert.equal(data["headline"], "Snow");
      assert.equal((await client.me()).kind, "key");
      const key = await client.apiKeys.create({ name: "Reader", scopes: ["articles:read"] });
      await client.apiKeys.delete(key.id);
      assert.deepEqual(
        sent.filter((path) => !path.startsWith("/v2/") && !path.startsWith("/v1/uploads/")),
        [],
      );
    } finally {
      await server.stop();
      await server.workspace.remove();
    }
  });
});
