// Requests to the authorization server without a signed-in user.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser } from "../../support/browser.ts";
import { openReader } from "../../support/database-reader.ts";
import { serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const halfAnHour = 1_800;
const limit = 300;

onOneDatabase("oauth without a session", (database) => {
  const server = serve(database);
  const expiries = async (): Promise<number[]> => {
    const reader = openReader(server.workspace.databaseUrl);
    try {
      const rows = await reader.rows("select expires_at from oauth_records where model = 'Session'");
      return rows.map(([at]) => Number(at));
    } finally {
      await reader.close();
    }
  };

  test("signing out without being signed in shows the signed-out page and stores nothing", async () => {
    const shown = await new Browser().open(`${server.url}/oauth/logout`);
    assert.equal(shown.status, 200);
    assert.match(shown.text, /You are signed out/);
    assert.match(shown.headers.get("content-security-policy") ?? "", /script-src 'none';/);
    assert.deepEqual(await expiries(), []);
  });

  test("the session of a visit to the device page expires after half an hour", async () => {
    await new Browser().open(`${server.url}/oauth/device`);
    const [at, ...more] = await expiries();
    assert.deepEqual(more, []);
    assert.ok(at! <= Math.ceil(Date.now() / 1000) + halfAnHour, String(at));
  });

  for (const path of ["/device", "/logout", "/device/x", "/authorize/x"]) {
    test(`${path} accepts ${limit} requests from an address in a minute, then responds with 429`, async () => {
      const answers = await Promise.all(
        Array.from({ length: limit + 50 }, () => new Browser().open(`${server.url}/oauth${path}`)),
      );
      const refused = answers.filter(({ status }) => status === 429);
      assert.ok(refused.length > 0 && refused.length <= 50, `${refused.length} were refused`);
      for (const { headers } of refused) assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    });
  }
});
