// The sessions of a user: listed, ended, and refused once ended.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser, type Shown } from "../../support/browser.ts";
import { openReader } from "../../support/database-reader.ts";
import {
  authorizeUrl,
  type CreatedClient,
  callback,
  makePublicClient,
  makeUser,
  post,
  refused,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const linux = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

onEachDatabase("oauth sessions", (database) => {
  let client: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      client = await makePublicClient(server, "openid,offline_access,posts:read");
    },
  });
  const page = (): string => `${server.url}/oauth/sessions`;
  const signedIn = async (user: User, browser = new Browser()): Promise<Browser> => {
    await signInAndAllow(browser, authorizeUrl(server, client, "openid").url, user);
    return browser;
  };
  const sectionsOf = ({ text }: Shown): string[] => text.split("<section>").slice(1);
  const sessionOf = (section: string): string => /name="session" value="([^"]+)"/.exec(section)?.[1] ?? "";

  test("a user sees each browser with a session, and which one is current", async () => {
    const user = await makeUser(server, "sees@example.com");
    const [desk, pocket] = [new Browser(linux), new Browser(phone)];
    await signedIn(user, desk);
    await signedIn(user, pocket);
    const sections = sectionsOf(await desk.open(page()));
    assert.equal(sections.length, 2);
    const [mine, other] = [
      sections.find((each) => /Linux/.test(each)),
      sections.find((each) => /iPhone/.test(each)),
    ];
    assert.match(mine!, /Firefox on Linux \(this session\)/);
    assert.match(mine!, /from 127\.0\.0\.1/);
    assert.equal(sessionOf(mine!), "");
    assert.match(other!, /<h2>Safari on iPhone<\/h2>/);
    assert.match(other!, /Signed in <time datetime="20[^"]+">/);
  });

  test("a User-Agent is shown escaped and shortened", async () => {
    const user = await makeUser(server, "strange@example.com");
    const browser = await signedIn(user, new Browser(`<script>alert(1)</script>${"x".repeat(5_000)}`));
    const { text } = await browser.open(page());
    assert.ok(text.includes("&lt;script&gt;") && !text.includes("<script>") && text.length < 5_000);
  });

  test("an ended session is refused at once, and the others stay valid", async () => {
    const user = await makeUser(server, "ends@example.com");
    const [here, there, third] = [await signedIn(user), await signedIn(user), await signedIn(user)];
    const [section] = sectionsOf(await here.open(page())).filter((each) => sessionOf(each) !== "");
    const after = await here.submit(await here.open(page()), { session: sessionOf(section!) });
    assert.equal(sectionsOf(after).length, 2);
    const statuses = [await there.open(page()), await third.open(page())].map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 401]);
    await here.submit(await here.open(page()), { end: "others" });
    for (const browser of [there, third]) {
      assert.equal((await browser.open(page())).status, 401);
      const shown = await browser.follow(authorizeUrl(server, client, "openid").url);
      assert.match(shown.text, /name="password"/);
    }
    assert.equal((await here.open(page())).status, 200);
  });

  test("ending a session revokes online access of applications, and keeps offline access", async () => {
    const user = await makeUser(server, "keeps@example.com");
    const tokensIn = async (browser: Browser, scope: string) => {
      const { url, verifier } = authorizeUrl(server, client, scope);
      const back = await signInAndAllow(browser, url, user);
      const fields = { grant_type: "authorization_code", redirect_uri: callback, client_id: client.clientId };
      const code = back.searchParams.get("code") ?? "";
      return (await post(server, "/token", { ...fields, code, code_verifier: verifier })).body;
    };
    const shortLived = await tokensIn(new Browser(), "openid posts:read");
    const lasting = await tokensIn(new Browser(), "openid offline_access posts:read");
    const here = await signedIn(user);
    await here.submit(await here.open(page()), { end: "others" });
    await sleep(1_000);
    const invalid = { status: 401, code: "invalid_credential" } as const;
    expectAnswer(await server.request("/posts", { key: shortLived.access_token }), invalid);
    assert.equal((await server.request("/posts", { key: lasting.access_token })).status, 200);
  });

  test("a code of an ended session cannot be redeemed", async () => {
    const user = await makeUser(server, "code@example.com");
    const there = new Browser();
    const { url, verifier } = authorizeUrl(server, client, "openid offline_access");
    const code = (await signInAndAllow(there, url, user)).searchParams.get("code") ?? "";
    const here = await signedIn(user);
    await here.submit(await here.open(page()), { end: "others" });
    const fields = { grant_type: "authorization_code", redirect_uri: callback, client_id: client.clientId };
    refused(await post(server, "/token", { ...fields, code, code_verifier: verifier }), "invalid_grant");
  });

  test("a session that a concurrent request stores stays ended", async () => {
    const user = await makeUser(server, "races@example.com");
    const [here, there] = [await signedIn(user), await signedIn(user)];
    const reader = openReader(server.workspace.databaseUrl);
    try {
      const table = "create table kept_sessions as select * from oauth_records";
      await reader.write(`${table} where model = 'Session' and account_id = '${user.id}'`);
      await here.submit(await here.open(page()), { end: "others" });
      await reader.write(
        "insert into oauth_records select * from kept_sessions where not exists (select 1 from oauth_records as o where o.model = kept_sessions.model and o.id = kept_sessions.id)",
      );
      await reader.write("drop table kept_sessions");
    } finally {
      await reader.close();
    }
    assert.equal((await there.open(page())).status, 401);
    assert.equal(sectionsOf(await here.open(page())).length, 1);
  });

  test("a session can be ended by its user only, with a form of the page", async () => {
    const [one, another] = [
      await makeUser(server, "one@example.com"),
      await makeUser(server, "other@example.com"),
    ];
    const [theirs, mine] = [await signedIn(one), await signedIn(another)];
    await signedIn(one);
    const [section] = sectionsOf(await theirs.open(page())).filter((each) => sessionOf(each) !== "");
    const own = await mine.open(page());
    await signedIn(another);
    const withForm = await mine.open(page());
    assert.equal((await mine.send(withForm, { session: sessionOf(section!) })).status, 403);
    const forged = {
      ...withForm,
      text: withForm.text.replaceAll(/name="csrf" value="[^"]+"/g, 'name="csrf" value="x"'),
    };
    assert.equal((await mine.send(forged, { end: "others" })).status, 403);
    assert.equal(sectionsOf(own).length, 1);
    assert.equal(sectionsOf(await theirs.open(page())).length, 2);
    assert.equal((await new Browser().open(page())).status, 401);
  });
});
