// Why patches change requests before oidc-provider reads them, and its effects on the process.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { request as sendRequest } from "node:http";
import { suite, test } from "node:test";
import { loadLibrary } from "../../../src/oauth/provider/library.ts";
import { logKoaErrors } from "../../../src/oauth/provider/patches/disconnects.ts";
import { promptForOfflineAccess } from "../../../src/oauth/provider/patches/offline-access.ts";
import { refuseFormPost } from "../../../src/oauth/provider/patches/response-modes.ts";
import { bareProvider, redirectUri } from "./bare-provider.ts";

const request = {
  client_id: "app",
  response_type: "code",
  redirect_uri: redirectUri,
  scope: "openid offline_access",
};

suite("requests to the bare oidc-provider", () => {
  const bare = bareProvider();

  /** The parameters that the library stores of an authorization request. */
  async function interactionParams(parameters: URLSearchParams): Promise<Record<string, unknown>> {
    const { status, headers } = await bare.get(`/auth?${parameters}`);
    assert.equal(status, 303, String(parameters));
    const uid = headers.get("location")!.split("/").at(-1);
    return bare.records.get(`Interaction ${uid}`)?.params as Record<string, unknown>;
  }

  test("runtime-warning: the library warns about a Node release that is not LTS", () => {
    const load = 'delete process.release.lts; await import("oidc-provider")';
    const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", load], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    assert.match(stderr, /Unsupported runtime/);
  });

  test("runtime-warning: the patch silences that, and restores the console", async (context) => {
    const { warn } = console;
    const warned = context.mock.method(console, "warn");
    await loadLibrary();
    assert.equal(warned.mock.callCount(), 0);
    context.mock.restoreAll();
    assert.equal(console.warn, warn);
  });

  test("mounted-request: discovery believes the Host header", async () => {
    const sent = sendRequest(`${bare.url}/.well-known/openid-configuration`, {
      headers: { host: "evil.example.com" },
    }).end();
    const [response] = await once(sent, "response");
    let text = "";
    for await (const chunk of response) text += chunk;
    assert.match(text, /"token_endpoint":"http:\/\/evil\.example\.com\//);
  });

  test("mounted-request: errors of the token endpoint are HTML for clients that accept it", async () => {
    const { headers } = await bare.post("/token", {}, "correct", { accept: "text/html" });
    assert.match(headers.get("content-type")!, /^text\/html/);
  });

  test("response-modes: form_post is offered, in the metadata too", async () => {
    const { body } = await bare.get("/.well-known/openid-configuration");
    assert.ok(body.response_modes_supported.includes("form_post"));
    const { status } = await bare.get(
      `/auth?${new URLSearchParams({ ...request, response_mode: "form_post" })}`,
    );
    assert.equal(status, 303);
  });

  test("response-modes: what the patch sends instead of form_post is refused", async () => {
    const parameters = new URLSearchParams({ ...request, response_mode: "form_post" });
    assert.equal(refuseFormPost(parameters), true);
    const { headers } = await bare.get(`/auth?${parameters}`);
    assert.equal(new URL(headers.get("location")!).searchParams.get("error"), "unsupported_response_mode");
    assert.equal(refuseFormPost(new URLSearchParams(request)), false);
  });

  test("offline-access: the scope is dropped silently without prompt=consent, and stays with it", async () => {
    const parameters = new URLSearchParams(request);
    assert.equal((await interactionParams(parameters))["scope"], "openid");
    assert.equal(promptForOfflineAccess(parameters), true);
    assert.equal((await interactionParams(parameters))["scope"], "openid offline_access");
    for (const prompt of ["consent", "none", "login consent"])
      assert.equal(promptForOfflineAccess(new URLSearchParams({ ...request, prompt })), false, prompt);
  });

  test("post-requests: there is no POST at the authorization and end-session endpoints", async () => {
    for (const path of ["/auth", "/session/end"]) {
      assert.equal((await bare.post(path, request)).status, 404, path);
    }
  });

  test("post-requests: the library has POST there only with SameSite=None", () => {
    assert.throws(() => new bare.library.Provider(bare.url, { enableHttpPostMethods: true }), /sameSite/i);
  });

  test("disconnects: Koa writes errors to the console if there is no listener; a disconnect is not logged", () => {
    const provider = new bare.library.Provider(bare.url);
    const emitter = provider as unknown as EventEmitter;
    provider.callback();
    assert.equal(emitter.listenerCount("error"), 1);

    const observed = new bare.library.Provider(bare.url);
    const logged: unknown[] = [];
    logKoaErrors(observed, (error) => logged.push(error));
    observed.callback();
    const listener = observed as unknown as EventEmitter;
    assert.equal(listener.listenerCount("error"), 1);
    const failure = new Error("failure");
    const disconnect = Object.assign(new Error("closed"), { headerSent: true, code: "EPIPE" });
    for (const error of [disconnect, failure]) listener.emit("error", error);
    assert.deepEqual(logged, [failure]);
  });
});
