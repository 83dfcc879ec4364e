// Records of the authorization server are encrypted, and purged after their expiry.

import assert from "node:assert/strict";
import { test } from "node:test";
import { OAuthRecords } from "../../src/auth/tokens/oauth-records.ts";
import { oauthRecordRetention } from "../../src/auth/tokens/oauth-records-table.ts";
import { Purge } from "../../src/jobs/purge.ts";
import { Encryption } from "../../src/lib/encryption.ts";
import { epochSeconds } from "../../src/lib/epoch-seconds.ts";
import { openStore } from "../../src/store/open.ts";
import { serve } from "../support/scenario.ts";
import { onEachDatabase } from "../support/server.ts";

onEachDatabase("records of the authorization server", (database) => {
  const server = serve(database);

  test("all expired records are deleted, and no others", async () => {
    const store = await openStore(server.workspace.databaseUrl);
    try {
      const records = new OAuthRecords(store, new Encryption(["x".repeat(32)]));
      const put = (value: string, expiresAt: number) =>
        records.put({ model: "Interaction", value, payload: "{}", expiresAt });
      await Promise.all(
        Array.from({ length: 1_203 }, (_, index) => put(`old ${index}`, epochSeconds() - 100)),
      );
      await put("present", epochSeconds() + 100);
      const report = (message: string): never => assert.fail(message);
      await new Purge(store, [oauthRecordRetention], report).purgeAll();
      assert.equal(await records.find("Interaction", "old 0"), undefined);
      assert.equal(await records.find("Interaction", "old 1202"), undefined);
      assert.equal((await records.find("Interaction", "present"))?.payload, "{}");
    } finally {
      await store.database.close();
    }
  });

  test("a record that was encrypted with another secret counts as unknown", async () => {
    const store = await openStore(server.workspace.databaseUrl);
    try {
      const [one, other] = ["a", "b"].map(
        (character) => new OAuthRecords(store, new Encryption([character.repeat(32)])),
      );
      const both = new OAuthRecords(store, new Encryption(["b".repeat(32), "a".repeat(32)]));
      await one!.put({ model: "Session", value: "s", payload: "{}", expiresAt: epochSeconds() + 100 });
      assert.equal(await other!.find("Session", "s"), undefined);
      assert.equal((await both.find("Session", "s"))?.payload, "{}");
    } finally {
      await store.database.close();
    }
  });
});
