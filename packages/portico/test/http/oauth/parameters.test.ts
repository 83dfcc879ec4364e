// Invalid parameters of the authorization server are refused at each path, for each name, on both databases.

import assert from "node:assert/strict";
import { test } from "node:test";
import { authorizeUrl, basic, type CreatedClient, callback, makeClient } from "../../support/oauth.ts";
import { exchange, serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const paths: readonly (readonly [method: "GET" | "POST", path: string])[] = [
  ...[
    "/authorize",
    "/authorize/x",
    "/userinfo",
    "/jwks",
    "/device",
    "/device/x",
    "/logout",
    "/logout/success",
  ],
  ...["/interaction/x", "/interaction/x/password", "/password", "/email", "/account", "/sessions", "/grants"],
].map((path) => ["GET", path] as const);
const forms: typeof paths = [
  ...[
    "/authorize",
    "/token",
    "/introspect",
    "/revoke",
    "/userinfo",
    "/device_authorization",
    "/device",
    "/par",
  ],
  ...["/logout", "/logout/confirm", "/interaction/x", "/interaction/x/password", "/password", "/email"],
  ...["/account", "/sessions", "/passkeys", "/grants"],
].map((path) => ["POST", path] as const);
const names =
  "client_id client_secret client_assertion client_assertion_type response_type response_mode redirect_uri scope state nonce code_challenge code_challenge_method resource request request_uri prompt max_age ui_locales acr_values login_hint id_token_hint claims registration grant_type code code_verifier refresh_token device_code token token_type_hint access_token username password post_logout_redirect_uri logout_hint logout user_code xsrf confirm abort csrf choice email challenge_token credential remove_passkeys application session end remove name sent unknown __proto__".split(
    " ",
  );
const thorough = new Set([
  "GET /authorize",
  "POST /token",
  "POST /par",
  "POST /interaction/x",
  "POST /device",
]);
/** Values that are invalid for every parameter. */
const unstorable = ["a%00b", "%00", "a\u0000b", "%ED%A0%80", "%ff", "%", "%zz", "x".repeat(20_000)];
/** Values that are accepted or refused, depending on the parameter. */
const odd = ["", "%2500", "%F0%9F%98%80", "%EF%BF%BF", "%0d%0aX:%20y", "[]", "a&b=c", "__proto__", "é"];

onOneDatabase("parameters of oauth", (database) => {
  let client: CreatedClient;
  let requestCount = 0;
  const server = serve(database, {
    env: { PORTICO_TRUSTED_PROXIES: "127.0.0.1" },
    prepare: async (server) => {
      const words = ["--type", "confidential", "--redirect-uri", callback, "--scopes", "openid,posts:read"];
      client = await makeClient(server, ...words);
    },
  });
  const send = async (method: "GET" | "POST", path: string, text: string): Promise<number> => {
    // From changing addresses, so that none reaches its limit.
    requestCount += 1;
    const headers: Record<string, string> = {
      "x-forwarded-for": `10.${requestCount >> 16}.${(requestCount >> 8) & 255}.${requestCount & 255}`,
    };
    if (method === "POST") headers["content-type"] = "application/x-www-form-urlencoded";
    const url = `${server.url}/oauth${path}${method === "GET" ? `?${text.slice(0, 15_000)}` : ""}`;
    const response = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      ...(method === "POST" && { body: text }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const inTurn = async (each: readonly (() => Promise<string | undefined>)[]): Promise<string[]> => {
    const wrong: string[] = [];
    for (let start = 0; start < each.length; start += 40)
      wrong.push(
        ...(await Promise.all(each.slice(start, start + 40).map((one) => one()))).flatMap(
          (text) => text ?? [],
        ),
      );
    return wrong;
  };
  /** Every name at the paths that use it most, and some names at every path. */
  const check = (values: readonly string[], isRight: (status: number) => boolean) =>
    [...paths, ...forms].flatMap(([method, path]) =>
      (thorough.has(`${method} ${path}`) ? names : ["client_id", "email", "unknown"]).flatMap((name) =>
        values.map((value) => async () => {
          const status = await send(method, path, `${name}=${value}`);
          return isRight(status) ? undefined : `${status} ${method} ${path} ${name}=${value.slice(0, 20)}`;
        }),
      ),
    );

  test("values that cannot be stored, and values that are too long, are refused for every parameter", async () => {
    assert.deepEqual(await inTurn(check(unstorable, (status) => status >= 400 && status < 500)), []);
  });

  test("scripts of another origin can read why a parameter is refused", async () => {
    const response = await fetch(`${server.url}/oauth/token`, {
      method: "POST",
      headers: {
        origin: "https://app.example.com",
        "content-type": "application/x-www-form-urlencoded",
        "x-forwarded-for": "10.255.255.254",
      },
      body: "grant_type=client_credentials&grant_type=x",
    });
    assert.equal(response.status, 400);
    assert.equal(((await response.json()) as { error: string }).error, "invalid_request");
    assert.equal(response.headers.get("access-control-allow-origin"), "https://app.example.com");
    assert.equal(response.headers.get("vary"), "Origin");
    assert.equal(response.headers.get("cache-control"), "no-store");
  });

  test("no value of a parameter causes a 500", async () => {
    assert.deepEqual(await inTurn(check(odd, (status) => status < 500)), []);
  });

  test("names, numbers of parameters, repetitions and encodings are bounded", async () => {
    const many = Array.from({ length: 101 }, (_, number) => `p${number}=1`).join("&");
    for (const text of [many, `${"n".repeat(201)}=1`, "a%00=1", "%=1", "client_id=a&client_id=a"])
      assert.equal(await send("POST", "/token", text), 400, text.slice(0, 30));
    const sendAs = async (type: string, body: Uint8Array<ArrayBuffer>): Promise<number> =>
      (await fetch(`${server.url}/oauth/token`, { method: "POST", headers: { "content-type": type }, body }))
        .status;
    const form = "application/x-www-form-urlencoded";
    assert.equal(await sendAs(`${form}; charset=utf-16`, Buffer.from("client_id=a", "utf16le")), 400);
    const twice = `${form}; charset=utf-8; charset=utf-16`;
    assert.equal(await sendAs(twice, Buffer.from("client_id=a")), 400);
    assert.equal(await sendAs(`${form}; charset="UTF-8"`, Buffer.from("client_id=a")), 401);
    assert.equal(await sendAs(form, Buffer.from([0x61, 0x3d, 0xff])), 400);
  });

  test("no Authorization header and no path causes a 500", async () => {
    for (const name of [
      "client_%00",
      "client_%2500",
      "%ED%A0%80",
      "%",
      "é",
      "client_\ud800",
      "",
      `client_${"x".repeat(9_000)}`,
    ]) {
      const authorization = `Basic ${Buffer.from(`${name}:x`).toString("base64")}`;
      for (const path of ["/token", "/introspect", "/revoke", "/device_authorization", "/par"]) {
        const answer = await fetch(`${server.url}/oauth${path}`, {
          method: "POST",
          headers: { authorization },
        });
        assert.ok(
          answer.status >= 400 && answer.status < 500,
          `${answer.status} ${path} ${name.slice(0, 20)}`,
        );
      }
    }
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    for (const odd of ["client_\u0000", "client_\ud800", { toString: 1 }, ["client_"], 1, null]) {
      const claims = { iss: odd, sub: odd, aud: odd, jti: odd, exp: 9_999_999_999, client_id: odd };
      const jwt = `${part({ alg: "ES256", typ: "JWT", kid: odd })}.${part(claims)}.AAAA`;
      const type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
      const assertion = `client_assertion_type=${encodeURIComponent(type)}&client_assertion=${jwt}`;
      for (const path of ["/token", "/introspect", "/revoke", "/par"])
        assert.ok((await send("POST", path, assertion)) < 500, `${path} ${JSON.stringify(odd)}`);
      assert.ok((await send("GET", "/logout", `id_token_hint=${jwt}`)) < 500);
      const { url } = authorizeUrl(server, client, "openid", { id_token_hint: jwt });
      assert.ok((await fetch(url, { redirect: "manual" })).status < 500);
      const response = await fetch(`${server.url}/oauth/introspect`, {
        method: "POST",
        headers: basic(client),
        body: new URLSearchParams({ token: jwt }),
      });
      assert.equal(response.status, 200);
    }
    for (const path of ["%00", "%ED%A0%80", "%zz", "x".repeat(5_000), "a%2Fb", "..%2f", "%252e"])
      for (const before of ["/interaction/", "/authorize/", "/device/"])
        assert.ok((await send("GET", `${before}${path}`, "")) < 500, `${before}${path}`);
  });

  test("no forged cookie causes a 500", async () => {
    const { url } = authorizeUrl(server, client, "openid");
    for (const value of ["%00", "\u00ff", "x".repeat(8_000), "a=b=c", "%ED%A0%80", '"', ""])
      for (const name of ["portico_session", "portico_interaction", "portico_resume"])
        for (const at of [url, `${server.url}/oauth/account`, `${server.url}/oauth/interaction/x`]) {
          const cookie = `${name}=${value}; ${name}.sig=${value}; __proto__=x`;
          const { status } = await fetch(at, { redirect: "manual", headers: { cookie } });
          assert.ok(status < 500, `${status} ${at} ${name}=${value.slice(0, 20)}`);
        }
  });

  test("another spelling of a path is the same path, or not found", async () => {
    const { url } = authorizeUrl(server, client, "openid", { prompt: "login" });
    const query = new URL(url).search;
    for (const path of [
      "/oauth/authorize",
      "/%6Fauth/authorize",
      "/%6fauth/authori%7A%65",
      "/o%61uth/%61uthorize",
    ]) {
      const received = await exchange(
        server.url,
        `GET ${path}${query} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      );
      assert.match(received, /^HTTP\/1\.1 303 /, path);
      assert.match(received, /^location: (http:\/\/[^/]+)?\/oauth\/interaction\/[\w-]+\r$/im, path);
    }
    for (const path of [
      "//oauth/authorize",
      "/oauth//authorize",
      "/oauth/%2e/authorize",
      "/oauth/x/%2e%2e/authorize",
      "/oauth%2Fauthorize",
      "/OAUTH/authorize",
      "/oauth/authorize/%2e%2e",
    ]) {
      const received = await exchange(
        server.url,
        `GET ${path}${query} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      );
      assert.match(received, /^HTTP\/1\.1 40[04] /, path);
    }
  });
});
