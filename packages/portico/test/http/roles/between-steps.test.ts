// A role that changes, and a person who is deactivated or deleted, between two steps of an authorization.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, type Shown } from "../../support/browser.ts";
import {
  type AuthorizationRequest,
  authorizeUrl,
  type CreatedClient,
  callback,
  makeClient,
  makePublicClient,
  makeUser,
  password,
  post,
  redirectOf,
  refused,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const scope = "openid offline_access posts:read keys:read";
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

onEachDatabase("between the steps of an authorization", (database) => {
  const server = serve(database);
  let users = 0;
  const newUser = (...words: string[]) => {
    users += 1;
    return makeUser(server, `step${users}@example.com`, ...words);
  };
  const newClient = (...words: string[]) => makePublicClient(server, scope.replaceAll(" ", ","), ...words);
  const patch = async ({ id }: User, body: object): Promise<void> =>
    expectAnswer(await server.request(`/users/${id}`, { method: "PATCH", body }), { status: 200 });
  /** What makes a person nobody. */
  const ends: readonly [string, (user: User) => Promise<void>][] = [
    ["deactivated", (user) => patch(user, { active: false })],
    [
      "deleted",
      async ({ id }) =>
        expectAnswer(await server.request(`/users/${id}`, { method: "DELETE" }), { status: 204 }),
    ],
  ];
  const openConsent = async (
    browser: Browser,
    client: CreatedClient,
    user: User,
  ): Promise<AuthorizationRequest & { shown: Shown }> => {
    const request = authorizeUrl(server, client, scope, { prompt: "consent" });
    const signIn = await browser.follow(request.url);
    const shown = await browser.submit(signIn, { email: user.email, password, choice: "sign-in" });
    assert.match(shown.text, /value="allow"/);
    return { ...request, shown };
  };
  const redeem = ({ clientId }: CreatedClient, { verifier }: AuthorizationRequest, code: string) =>
    post(server, "/token", {
      ...{ grant_type: "authorization_code", code, redirect_uri: callback },
      ...{ code_verifier: verifier, client_id: clientId },
    });

  test("a consent grants only what its page has shown, however the role changes meanwhile", async () => {
    const [user, client, browser] = [await newUser(), await newClient(), new Browser()];
    const pending = await openConsent(browser, client, user);
    assert.doesNotMatch(pending.shown.text, /See keys/);
    await patch(user, { role: "owner" });
    const asked = await browser.submit(pending.shown, { choice: "allow" });
    assert.match(asked.text, /See keys/);
    await patch(user, { role: "member" });
    const redirect = redirectOf(await browser.submit(asked, { choice: "allow" }));
    const { body } = await redeem(client, pending, redirect.searchParams.get("code")!);
    assert.equal(body.scope, "openid offline_access posts:read");
  });

  test("a form without the scopes that were shown grants nothing", async () => {
    const [user, client, browser] = [await newUser(), await newClient(), new Browser()];
    const { shown } = await openConsent(browser, client, user);
    for (const scopes of ["", "keys:read", "*", "openid,posts:read"]) {
      const again = await browser.submit(shown, { choice: "allow", scopes });
      assert.deepEqual([again.status, again.location], [200, undefined]);
      assert.match(again.text, /value="allow"/);
    }
  });

  test("a person who is demoted between code and token gets the scopes of the new role", async () => {
    const [user, client, browser] = [await newUser("--role", "owner"), await newClient(), new Browser()];
    const pending = await openConsent(browser, client, user);
    const redirect = redirectOf(await browser.submit(pending.shown, { choice: "allow" }));
    await patch(user, { role: "member" });
    const { body } = await redeem(client, pending, redirect.searchParams.get("code")!);
    assert.equal(body.scope, "openid offline_access posts:read");
    const asked = { prompt: "none" };
    const silent = await browser.follow(authorizeUrl(server, client, scope, asked).url);
    const again = redirectOf(silent).searchParams;
    assert.ok(again.get("code") ?? again.get("error") === "consent_required", String(again));
  });

  for (const [end, apply] of ends) {
    test(`a person who is ${end} while the consent page is open grants nothing`, async () => {
      const [user, client, browser] = [await newUser(), await newClient(), new Browser()];
      const { shown } = await openConsent(browser, client, user);
      await apply(user);
      const answer = await browser.submit(shown, { choice: "allow" });
      assert.ok(answer.status < 500, answer.text);
      assert.doesNotMatch(answer.location ?? "", /[?&]code=/);
      const silent = await browser.follow(authorizeUrl(server, client, scope, { prompt: "none" }).url);
      assert.equal(redirectOf(silent).searchParams.get("error"), "login_required");
    });

    test(`a code of a person who is ${end} gives no token`, async () => {
      const [user, client, browser] = [await newUser(), await newClient(), new Browser()];
      const pending = await openConsent(browser, client, user);
      const redirect = redirectOf(await browser.submit(pending.shown, { choice: "allow" }));
      await apply(user);
      const code = redirect.searchParams.get("code")!;
      refused(await redeem(client, pending, code), "invalid_grant");
    });

    test(`a device of a person who is ${end} gets no token`, async () => {
      const user = await newUser();
      const words = ["--type", "public", "--grant-types", "device_code", "--scopes", "posts:read"];
      const { clientId } = await makeClient(server, ...words);
      const requested = { client_id: clientId, scope: "posts:read" };
      const { body } = await post(server, "/device_authorization", requested);
      const browser = new Browser();
      const entry = await browser.open(body.verification_uri_complete);
      const confirmation = await browser.submit(entry, { user_code: body.user_code });
      let shown = await browser.submit(confirmation, { confirm: "yes" });
      shown = await browser.submit(shown, { email: user.email, password, choice: "sign-in" });
      shown = await browser.submit(shown, { choice: "allow" });
      assert.equal(shown.status, 200, shown.text);
      await apply(user);
      const fields = { grant_type: deviceGrant, device_code: body.device_code, client_id: clientId };
      refused(await post(server, "/token", fields), "invalid_grant");
    });
  }
});
