// Random requests to every path of the authorization server: none causes a 500.

import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { basic, type CreatedClient, callback, makeClient } from "../../support/oauth.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const requests = randomRuns(1_000, 300, "PORTICO_FUZZ_OAUTH");
const paths =
  "/authorize /authorize/x /token /introspect /revoke /userinfo /jwks /device_authorization /device /device/x /par /logout /logout/confirm /logout/success /interaction/x /interaction/x/password /password /email /account /sessions /passkeys /passkey.js /grants /.well-known/openid-configuration".split(
    " ",
  );
const names =
  "grant_type code client_id client_secret scope redirect_uri code_verifier refresh_token device_code token token_type_hint response_type response_mode state code_challenge code_challenge_method prompt max_age login_hint id_token_hint request_uri request resource user_code xsrf csrf choice email password token claims client_assertion client_assertion_type grant session end remove challenge_token credential __proto__ constructor".split(
    " ",
  );
const knownValues = [
  ..."authorization_code refresh_token client_credentials code token none consent S256 query form_post openid -1 99999999999999999999 eyJ.. eyJhbGciOiJFUzI1NiJ9.eyJ4IjoxfQ.AAAA {} [] null %00 %zz ~eyJ.x.y javascript:1".split(
    " ",
  ),
  ...[
    "",
    "openid offline_access posts:read",
    "login consent",
    "urn:ietf:params:oauth:grant-type:device_code",
    callback,
  ],
  ...['{"id_token":{"sub":null}}', "a".repeat(5_000), "é\u0000"],
];

function pick<Value>(values: readonly Value[]): Value {
  return values[randomInt(values.length)]!;
}

onOneDatabase("oauth, fuzzed", (database) => {
  let client: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      const grantTypes = "authorization_code,refresh_token,client_credentials,device_code";
      const words = ["--type", "confidential", "--redirect-uri", callback, "--grant-types", grantTypes];
      client = await makeClient(server, ...words);
    },
  });

  /** The request, if its response is a failure. */
  const failure = async (): Promise<string | undefined> => {
    const values = [...knownValues, client.clientId, client.clientSecret!, server.url];
    const query = Array.from({ length: randomInt(8) }, () => {
      const value = pick(values);
      return `${pick(names)}=${randomInt(5) === 0 ? value.replace(/[^!-~]|[#&]/g, "") : encodeURIComponent(value)}`;
    }).join("&");
    const method = pick(["GET", "POST", "POST", "OPTIONS", "PUT"]);
    const isInBody = method === "POST" || method === "PUT";
    const headers: Record<string, string> = {
      ...pick<Record<string, string>>([
        {},
        basic(client),
        { authorization: "Basic !" },
        { authorization: "Bearer eyJ.x.y" },
      ]),
      ...pick<Record<string, string>>([
        {},
        { cookie: "portico_session=x" },
        { cookie: ";;=; portico_resume=x" },
      ]),
      ...pick<Record<string, string>>([
        {},
        { accept: "text/html" },
        { accept: "garbage" },
        { origin: "null" },
      ]),
    };
    if (isInBody)
      headers["content-type"] = pick([
        ...["application/x-www-form-urlencoded", "application/x-www-form-urlencoded"],
        ...["application/x-www-form-urlencoded; charset=bogus", "application/json", "multipart/form-data"],
      ]);
    const url = `${server.url}/oauth${pick(paths)}${isInBody ? "" : `?${query}`}`;
    const body = isInBody ? { body: query } : {};
    const response = await fetch(url, { method, headers, redirect: "manual", ...body });
    const text = await response.text();
    if (response.status < 500) return undefined;
    return JSON.stringify([response.status, method, url, query, headers, text]);
  };

  test(`${requests} requests without a 500`, async () => {
    for (let sent = 0; sent < requests; sent += 20) {
      const failures = await Promise.all(Array.from({ length: 20 }, failure));
      assert.deepEqual(
        failures.filter((each) => each !== undefined),
        [],
      );
    }
  });
});
