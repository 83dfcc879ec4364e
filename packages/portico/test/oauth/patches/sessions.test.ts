// Why sessions, devices and outages are handled by patches.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { suite, test } from "node:test";
import { sessionOf } from "../../../src/oauth/provider/patches/session-lookup.ts";
import { persistNewSessions } from "../../../src/oauth/provider/patches/session-persist.ts";
import { bareProvider, redirectUri } from "./bare-provider.ts";

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
/** A form that a script sends as soon as the page is loaded. */
const selfSubmitting = /<script|onload=/;

suite("sessions of the bare oidc-provider", () => {
  const shown: string[] = [];
  const bare = bareProvider({
    features: {
      deviceFlow: {
        enabled: true,
        userCodeInputSource: async (context, form, _out, error) => {
          const state = context.oidc.session?.["state"] as { secret: string };
          shown.push(`${form}\n${state.secret}\n${(error as { userCode?: string })?.userCode}`);
          context.body = form;
        },
      },
    },
  });
  const startDevice = async () =>
    (await bare.post("/device/auth", { client_id: "tv", scope: "openid" })).body;
  const poll = (device_code: string) =>
    bare.post("/token", { grant_type: deviceGrant, client_id: "tv", device_code });

  test("end-session: a browser without a session gets a self-submitting form and a session", async () => {
    const { text, headers } = await bare.get("/session/end");
    assert.match(text, selfSubmitting);
    assert.match(headers.get("set-cookie")!, /_session=/);
  });

  test("session-lookup: Session.get works with a context of our own", async () => {
    const request = new IncomingMessage(new Socket());
    const session = await sessionOf(bare.provider, request, new ServerResponse(request));
    assert.equal(session.accountId, undefined);
    assert.equal(typeof session.uid, "string");
  });

  test("session-persist: a session that was not stored cannot be persisted without the patch", async () => {
    const { Session } = bare.provider;
    type Persistable = { persist(): Promise<unknown>; exp?: number; jti: string };
    const prototype = Session.prototype as unknown as Persistable;
    const original = prototype.persist;
    const make = () => new (Session as unknown as new () => Persistable)();
    try {
      await assert.rejects(make().persist(), /previously persisted/);
      persistNewSessions(bare.provider, bare.library);
      const session = make();
      await session.persist();
      assert.ok(bare.records.has(`Session ${session.jti}`));
    } finally {
      prototype.persist = original;
    }
  });

  test("session-persist: an error on the device page of a new browser is a 500", async () => {
    const { status } = await bare.post("/device", { xsrf: "forged", user_code: "BBBB-BBBB" });
    assert.equal(status, 500);
  });

  test("replaced-session: every request that reads a session stores it again and sets its cookie", async () => {
    const first = await bare.get("/session/end");
    const cookie = first.headers
      .getSetCookie()
      .map((line) => line.split(";", 1)[0])
      .join("; ");
    const id = /_session=([^;]+)/.exec(cookie)![1]!;
    const stored = bare.records.get(`Session ${id}`);
    const again = await bare.get("/session/end", { cookie });
    assert.match(again.headers.get("set-cookie")!, new RegExp(`_session=${id}`));
    assert.notEqual(bare.records.get(`Session ${id}`), stored);
  });

  test("switched-user: the session of another user is ended by a self-submitting form", async () => {
    const parameters = {
      client_id: "app",
      response_type: "code",
      redirect_uri: redirectUri,
      scope: "openid",
    };
    const { headers } = await bare.get(`/auth?${new URLSearchParams(parameters)}`);
    const uid = headers.get("location")!.split("/").at(-1)!;
    const interaction = bare.records.get(`Interaction ${uid}`)!;
    const signed = { ...interaction, result: { login: { accountId: "jane" } } };
    bare.records.set(`Interaction ${uid}`, signed as never);
    const session = new bare.provider.Session();
    session.loginAccount({ accountId: "john" } as never);
    await session.save(60);
    const cookies = headers.getSetCookie().map((line) => line.split(";", 1)[0]!);
    const cookie = [...cookies, ...signedCookie("_session", session.jti)].join("; ");
    const { text } = await bare.get(`/auth/${uid}`, { cookie });
    assert.match(text, selfSubmitting);
    assert.match(text, /session\/end\/confirm/);
  });

  test("device-polling: a device code has no interval, and fast polling is not slowed down", async () => {
    const device = await startDevice();
    assert.equal(typeof device.device_code, "string");
    assert.equal(device.interval, undefined);
    for (let polls = 0; polls < 20; polls += 1)
      assert.equal((await poll(device.device_code)).body.error, "authorization_pending");
  });

  test("device-forms: the token of the form is the one in the session, and an error has the entered code", async () => {
    const page = await bare.get("/device");
    const [form, secret] = shown.pop()!.split(/\n(?=[0-9a-f]{48}\n)/);
    assert.ok(form!.includes(`name="xsrf" value="${secret!.split("\n")[0]}"`));
    const cookie = page.headers
      .getSetCookie()
      .map((line) => line.split(";", 1)[0])
      .join("; ");
    const xsrf = secret!.split("\n")[0]!;
    await bare.post("/device", { xsrf, user_code: "NONE-SUCH" }, undefined, { cookie });
    assert.match(shown.pop()!, /\nNONE-SUCH$/);
  });

  test("verification-uri-complete: a code in the query makes a self-submitting form", async () => {
    assert.match((await bare.get("/device?user_code=BBBB-BBBB")).text, selfSubmitting);
  });

  test("outages: a failing adapter is a 500 server_error", async () => {
    bare.failure = new Error("the database is gone");
    const { status, body } = await poll("code");
    bare.failure = undefined;
    assert.deepEqual([status, body.error], [500, "server_error"]);
  });
});

/** A cookie and its signature with the key of the bare provider, as Koa signs cookies. */
function signedCookie(name: string, value: string): readonly string[] {
  const signature = createHmac("sha1", "test").update(`${name}=${value}`).digest("base64url");
  return [`${name}=${value}`, `${name}.sig=${signature}`];
}
