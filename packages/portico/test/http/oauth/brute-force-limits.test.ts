// Brute-force limits slow down attackers without locking out users.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, type Shown } from "../../support/browser.ts";
import { emailsTo, emailTo } from "../../support/emails.ts";
import {
  authorizeUrl,
  basic,
  type CreatedClient,
  makeClient,
  makePublicClient,
  makeUser,
  password,
  post,
} from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const home = "198.51.100.7";
const warning = "account.password_guessed";

onOneDatabase("brute-force limits", (database) => {
  let client: CreatedClient;
  const server = serve(database, {
    env: { PORTICO_TRUSTED_PROXIES: "127.0.0.1", PORTICO_FAILED_AUTH_QUOTA: "5/60" },
    prepare: async (server) => {
      client = await makePublicClient(server, "openid");
    },
  });
  /** The sign-in page, opened from a network address. */
  const openPage = async (from: string): Promise<(email: string, typed: string) => Promise<Shown>> => {
    const browser = new Browser("node", { "x-forwarded-for": from });
    const shown = await browser.follow(authorizeUrl(server, client, "openid").url);
    return (email, typed) => browser.send(shown, { email, password: typed, choice: "sign-in" });
  };
  const attempt = async (from: string, email: string, count: number): Promise<number[]> => {
    const signIn = await openPage(from);
    const answers = await Promise.all(Array.from({ length: count }, () => signIn(email, "wrong wrong")));
    return answers.map(({ status }) => status);
  };

  test("an address at its limit does not use up the limits of other accounts", async () => {
    const user = await makeUser(server, "spared@example.com");
    const attacker = "203.0.113.1";
    const signIn = await openPage(attacker);
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => signIn(`nobody${index}@example.com`, "wrong wrong")),
    );
    // A token is refilled every six seconds.
    const verified = (await attempt(attacker, user.email, 60)).filter((status) => status !== 429);
    assert.ok(verified.length < 10, `${verified.length} were heard`);
    assert.equal((await (await openPage(home))(user.email, password)).status, 303);
    // Refused attempts cause no email.
    assert.deepEqual(await emailsTo(server, user.email, warning), []);
  });

  test("an account under attack from many addresses stays usable, and its user is warned once", async () => {
    const user = await makeUser(server, "target@example.com");
    const attackers = Array.from({ length: 6 }, (_, index) => `203.0.113.${index + 10}`);
    const statuses = (await Promise.all(attackers.map((from) => attempt(from, user.email, 12)))).flat();
    // Ten attempts from each address are verified, and the rest are refused.
    assert.equal(statuses.filter((status) => status === 401).length, 60);
    assert.equal(statuses.filter((status) => status === 429).length, 12);
    const signIn = await openPage(home);
    const [signedIn] = await Promise.all([
      signIn(user.email, password),
      attempt("203.0.113.99", user.email, 10),
    ]);
    assert.equal(signedIn.status, 303);
    assert.match((await emailTo(server, user.email, warning)).text, /203\.0\.113\./);
    assert.equal((await emailsTo(server, user.email, warning)).length, 1);
  });

  test("attempts from one address for one account are refused, with the correct password too", async () => {
    const user = await makeUser(server, "pair@example.com");
    const other = await makeUser(server, "neighbour@example.com");
    const statuses = await attempt("203.0.113.200", user.email, 11);
    assert.deepEqual(statuses.sort(), [...Array(10).fill(401), 429]);
    const signIn = await openPage("203.0.113.200");
    const refused = await signIn(user.email, password);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    assert.equal((await signIn(other.email, password)).status, 303);
    assert.equal((await (await openPage(home))(user.email, password)).status, 303);
  });

  test("attempts at a client's secret do not keep the client from using it", async () => {
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    const wrong = { ...machine, clientSecret: "wrong" };
    const from = { "x-forwarded-for": "203.0.113.50" };
    for (const [path, fields] of [
      ["/token", { grant_type: "client_credentials" }],
      ["/introspect", { token: "x" }],
      ["/revoke", { token: "x" }],
    ] as const) {
      const statuses = [];
      for (let count = 0; count < 7; count += 1)
        statuses.push((await post(server, path, fields, { ...basic(wrong), ...from })).status);
      assert.equal(statuses.at(-1), 429, path);
      for (const address of ["203.0.113.50", home]) {
        const good = { ...basic(machine), "x-forwarded-for": address };
        assert.equal((await post(server, path, fields, good)).status, 200, path);
      }
    }
  });
});
