// Passkeys: added on an account page, used instead of a password, valid for their user only.

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { describe, test } from "node:test";
import { Authenticator, type Options, type Wrong } from "../../support/authenticator.ts";
import { Browser, type Shown } from "../../support/browser.ts";
import { openReader } from "../../support/database-reader.ts";
import { emailTo, linkIn } from "../../support/emails.ts";
import {
  authorizeUrl,
  type CreatedClient,
  callback,
  makePublicClient,
  makeUser,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { serve, type TestServer } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const [adds, signsIn] = ["Add a passkey", "Sign in with a passkey"];

/** The options in the form of a page. */
function optionsOf({ text }: Shown): Options {
  const [, json] = /data-options="([^"]+)"/.exec(text) ?? [];
  assert.ok(json, text);
  return JSON.parse(json.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&"));
}

onEachDatabase("passkeys", (database) => {
  let client: CreatedClient;
  let grace: User;
  let gracesBrowser: Browser;
  // Passkeys require a host name.
  const server = serve(database, {
    env: { HOST: "localhost" },
    prepare: async (server) => {
      client = await makePublicClient(server, "openid,posts:read");
      grace = await makeUser(server, "grace@example.com");
      gracesBrowser = await signedIn(grace);
    },
  });
  const page = (): string => `${server.url}/oauth/passkeys`;
  const signedIn = async (user: User): Promise<Browser> => {
    const browser = new Browser();
    await signInAndAllow(browser, authorizeUrl(server, client, "openid").url, user);
    return browser;
  };
  const add = async (
    browser: Browser,
    authenticator: Authenticator,
    wrong: Wrong = {},
    name = "Laptop",
  ): Promise<Shown> => {
    const shown = await browser.open(page());
    const credential = authenticator.create(optionsOf(shown), wrong);
    return browser.submit(shown, { name, credential }, adds);
  };
  const withPasskey = async (browser: Browser = gracesBrowser): Promise<Authenticator> => {
    const authenticator = new Authenticator(server.url);
    assert.match((await add(browser, authenticator)).text, /<h2>Laptop<\/h2>/);
    return authenticator;
  };
  const signInPage = (browser: Browser, application = client): Promise<Shown> =>
    browser.follow(authorizeUrl(server, application, "openid").url);
  const signIn = async (
    authenticator: Authenticator,
    wrong: Wrong = {},
    application = client,
  ): Promise<Shown> => {
    const browser = new Browser();
    const shown = await signInPage(browser, application);
    return browser.submit(shown, { credential: authenticator.get(optionsOf(shown), wrong) }, signsIn);
  };

  test("a user adds a passkey and signs in with it, without entering an address", async () => {
    const authenticator = await withPasskey();
    const consent = await signIn(authenticator);
    assert.equal(consent.status, 200, consent.text);
    assert.ok(consent.text.includes(`signed in as ${grace.email}`));
    assert.equal((await signIn(authenticator)).status, 200);
    const again = await gracesBrowser.open(page());
    assert.match(again.text, /last used 20/);
  });

  for (const [fact, fields, status] of [
    ["stay", {}, 200],
    ["are removed, if they are not the user's", { remove_passkeys: "yes" }, 401],
  ] as const) {
    test(`the page for a new password lists the passkeys, which ${fact}`, async () => {
      const user = await makeUser(server, `forgetful-${status}@example.com`);
      const authenticator = await withPasskey(await signedIn(user));
      const browser = new Browser();
      const [, path] = /<a href="([^"]+)">Forgot/.exec((await signInPage(browser)).text) ?? [];
      await browser.submit(await browser.open(new URL(path!, server.url).href), { email: user.email });
      const link = linkIn(await emailTo(server, user.email, "account.password_link"));
      const shown = await browser.open(link);
      assert.match(shown.text, /These passkeys can also sign in to the account: Laptop\./);
      const changed = await browser.submit(shown, { password: "another battery entirely", ...fields });
      assert.equal(changed.status, 200, changed.text);
      assert.equal((await signIn(authenticator)).status, status);
    });
  }

  test("a user gets an email for each new passkey, with its name escaped", async () => {
    const user = await makeUser(server, "notified@example.com");
    await add(await signedIn(user), new Authenticator(server.url), {}, "<b>Phone</b>");
    const mail = await emailTo(server, user.email, "account.passkey_added");
    assert.match(mail.text, /^ {2}Passkey: +<b>Phone<\/b>$/m);
    assert.match(mail.html, /&lt;b&gt;Phone/);
    assert.match(mail.text, /^ {2}From: +(127\.0\.0\.1|::1)$/m);
  });

  test("the page requests a new discoverable credential with user verification", async () => {
    const known = (await gracesBrowser.open(page())).text.match(/name="remove"/g)?.length ?? 0;
    await withPasskey();
    const options = JSON.parse(JSON.stringify(optionsOf(await gracesBrowser.open(page()))));
    assert.partialDeepStrictEqual(options, {
      rp: { id: "localhost", name: "Portico" },
      user: {
        id: Buffer.from(grace.id).toString("base64url"),
        name: grace.email,
        displayName: "Grace Hopper",
      },
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    });
    assert.equal(options.excludeCredentials.length, known + 1);
    const signIn = JSON.parse(JSON.stringify(optionsOf(await signInPage(new Browser()))));
    assert.partialDeepStrictEqual(signIn, {
      rpId: "localhost",
      userVerification: "required",
      allowCredentials: [],
    });
    assert.notEqual(signIn.challenge, optionsOf(await signInPage(new Browser())).challenge);
  });

  test("pages work without scripts: the passkey form is hidden, and the script is of the same origin", async () => {
    const shown = await signInPage(new Browser());
    assert.match(shown.text, /<form [^>]*data-passkey="get"[^>]* hidden>/);
    assert.match(
      shown.headers.get("content-security-policy") ?? "",
      /default-src 'none'; script-src 'self';/,
    );
    const [, source] = /<script src="(\/oauth\/passkey\.js\?v=[\w-]+)"><\/script>/.exec(shown.text) ?? [];
    const script = await new Browser().open(new URL(source!, server.url).href);
    assert.equal(script.status, 200);
    assert.match(script.headers.get("content-type") ?? "", /^text\/javascript/);
    assert.match(script.headers.get("cache-control") ?? "", /immutable/);
    assert.match(script.text, /navigator\.credentials\.get/);
    const plain = await new Browser().open(`${server.url}/oauth/device`);
    assert.match(plain.headers.get("content-security-policy") ?? "", /script-src 'none'/);
  });

  const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  for (const [fact, wrong] of [
    ["of another origin", { origin: "https://evil.example" }],
    ["of another relying party", { rpId: "evil.example" }],
    ["for another challenge", { challenge: "A".repeat(43) }],
    ["created for a registration", { type: "webauthn.create" }],
    ["without user verification", { isVerified: false }],
    ["signed by another key", { signedBy: foreign }],
    ["with the handle of another user", { userHandle: Buffer.from("user_x").toString("base64url") }],
    ["with a lower counter", { counter: 1 }],
  ] as const satisfies readonly (readonly [string, Wrong])[]) {
    test(`a response ${fact} is refused`, async () => {
      const authenticator = await withPasskey();
      assert.equal((await signIn(authenticator, { counter: 5 })).status, 200);
      const refused = await signIn(authenticator, wrong);
      assert.equal(refused.status, 401);
      assert.match(refused.text, /role="alert">You could not be signed in with this passkey/);
      assert.equal((await signIn(authenticator, { counter: 6 })).status, 200);
    });
  }

  test("a response is valid once, for the page that requested it", async () => {
    const authenticator = await withPasskey();
    const [one, other] = [new Browser(), new Browser()];
    const [here, there] = [await signInPage(one), await signInPage(other)];
    const credential = authenticator.get(optionsOf(here));
    assert.equal((await other.send(there, { credential }, signsIn)).status, 401);
    const challengeToken = /name="challenge_token" value="([^"]+)"/.exec(here.text)![1]!;
    assert.equal(
      (await other.send(there, { credential, challenge_token: challengeToken }, signsIn)).status,
      401,
    );
    assert.equal((await one.send(here, { credential }, signsIn)).status, 303);
    assert.equal((await one.send(here, { credential }, signsIn)).status, 401);
  });

  test("of ten concurrent uses of a response one succeeds", async () => {
    const authenticator = await withPasskey();
    const browser = new Browser();
    const shown = await signInPage(browser);
    const credential = authenticator.get(optionsOf(shown));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => browser.send(shown, { credential }, signsIn)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [303, ...Array(9).fill(401)]);
  });

  test("an expired or forged challenge is refused", async () => {
    const authenticator = await withPasskey();
    const browser = new Browser();
    const shown = await signInPage(browser);
    const credential = authenticator.get(optionsOf(shown));
    const [, nonce] = /name="challenge_token" value="\d+\.([^"]+)"/.exec(shown.text) ?? [];
    for (const challengeToken of [
      "",
      "x",
      `1000000000.${nonce}`,
      `9999999999.${nonce}`,
      `99999999999999999999.${nonce}`,
    ])
      assert.equal(
        (await browser.send(shown, { credential, challenge_token: challengeToken }, signsIn)).status,
        401,
        challengeToken,
      );
  });

  for (const [fact, wrong] of [
    ["of another origin", { origin: "https://evil.example" }],
    ["of another relying party", { rpId: "evil.example" }],
    ["for another challenge", { challenge: "A".repeat(43) }],
    ["without user verification", { isVerified: false }],
    [
      "with an unrequested certificate",
      {
        attestation: {
          fmt: "packed",
          attStmt: new Map<string, unknown>([
            ["alg", -7],
            ["sig", Buffer.alloc(70)],
            ["x5c", [Buffer.alloc(9)]],
          ]),
        },
      },
    ],
  ] as const satisfies readonly (readonly [string, Wrong])[]) {
    test(`a passkey ${fact} is not added`, async () => {
      const before = (await gracesBrowser.open(page())).text;
      const refused = await add(gracesBrowser, new Authenticator(server.url), wrong);
      assert.equal(refused.status, 422);
      const count = (text: string) => text.match(/<h2>Laptop/g)?.length;
      assert.equal(count(refused.text), count(before));
    });
  }

  test("a malformed response is refused without a 500", async () => {
    const browser = new Browser();
    const shown = await signInPage(browser);
    const own = await withPasskey();
    for (const credential of [
      ...'null|[]|{}|1|{"id":1,"response":{}}|{"id":"x","response":null}|{"id":"x","response":{}}'.split("|"),
      "",
      "{",
      '{"id":"\\u0000","response":{"__proto__":{"clientDataJSON":"e30"}}}',
    ]) {
      assert.equal((await browser.send(shown, { credential }, signsIn)).status, 401, credential.slice(0, 80));
      const mine = await gracesBrowser.open(page());
      assert.equal(
        (await gracesBrowser.send(mine, { credential }, adds)).status,
        422,
        credential.slice(0, 80),
      );
    }
    const tooLong = { credential: "x".repeat(40_000) };
    assert.equal((await browser.send(shown, tooLong, signsIn)).status, 400);
    const cut = own.get(optionsOf(shown)).replace(/"signature":"[^"]+"/, '"signature":{}');
    assert.equal((await browser.send(shown, { credential: cut }, signsIn)).status, 401);
  });

  test("a removed passkey is refused, and users can remove only their own", async () => {
    const browser = await signedIn(await makeUser(server, "removes@example.com"));
    const authenticator = await withPasskey(browser);
    const stranger = gracesBrowser;
    const mine = await browser.open(page());
    const [, remove = ""] = /name="remove" value="([^"]+)"/.exec(mine.text) ?? [];
    assert.equal((await stranger.send(await stranger.open(page()), { remove })).status, 403);
    assert.equal((await browser.send({ ...mine, text: "" }, { remove })).status, 403);
    assert.equal((await signIn(authenticator)).status, 200);
    const after = await browser.submit(mine, { remove }, "Remove Laptop");
    assert.doesNotMatch(after.text, /<h2>Laptop/);
    assert.equal((await signIn(authenticator)).status, 401);
    assert.equal((await new Browser().open(page())).status, 401);
  });

  test("a passkey is valid for one user of one tenant", async () => {
    const authenticator = await withPasskey();
    const second = await signedIn(await makeUser(server, "second@example.com"));
    const repeated = await add(second, authenticator);
    assert.equal(repeated.status, 422);
    const { tenant } = await server.command("tenant", "create", "--name", "Elsewhere");
    const theirs = await makePublicClient(server, "openid", "--tenant", tenant.id);
    const own = await withPasskey();
    assert.equal((await signIn(own, {}, theirs)).status, 401);
    assert.equal((await signIn(own)).status, 200);
  });

  test("passkeys are deleted with their user", async () => {
    const user = await makeUser(server, "deleted@example.com");
    const authenticator = await withPasskey(await signedIn(user));
    assert.equal((await server.request(`/users/${user.id}`, { method: "DELETE" })).status, 204);
    assert.equal((await signIn(authenticator)).status, 401);
    const reader = openReader(server.workspace.databaseUrl);
    try {
      assert.deepEqual(await reader.rows(`select id from passkeys where user_id = '${user.id}'`), []);
    } finally {
      await reader.close();
    }
  });

  test("a first-party application needs no consent after a passkey", async () => {
    const own = await makePublicClient(server, "openid", "--first-party");
    const authenticator = await withPasskey();
    const back = await signIn(authenticator, {}, own);
    assert.ok(back.location?.startsWith(`${callback}?code=`), back.text);
  });
});

describe("passkeys at an IP address", () => {
  const server: TestServer = serve("sqlite");

  test("are not offered, because they require a host name", async () => {
    const client = await makePublicClient(server, "openid");
    const user = await makeUser(server, "grace@example.com");
    const browser = new Browser();
    const shown = await browser.follow(authorizeUrl(server, client, "openid").url);
    assert.doesNotMatch(shown.text, /passkey/);
    await signInAndAllow(browser, authorizeUrl(server, client, "openid").url, user);
    const page = await browser.open(`${server.url}/oauth/passkeys`);
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.text, /Add a passkey/);
  });
});
