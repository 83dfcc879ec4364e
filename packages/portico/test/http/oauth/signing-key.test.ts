// Signing keys from a file.

import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, hash, type KeyObject, sign, verify } from "node:crypto";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { basic, type CreatedClient, makeClient, post } from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, porticoProcess } from "../../support/server.ts";

const folder = mkdtempSync(join(tmpdir(), "portico-signing-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const makeKey = (): KeyObject => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const pemOf = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

/** RFC 7638 */
function thumbprint(key: KeyObject): string {
  const { crv, kty, x, y } = key.export({ format: "jwk" });
  return hash("sha256", JSON.stringify({ crv, kty, x, y }), "base64url");
}

function fileOf(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

describe("a signing key from a file", () => {
  const [first, second] = [makeKey(), makeKey()];
  const file = fileOf("key.pem", pemOf(first));
  let machine: CreatedClient;
  const server = serve("sqlite", {
    env: { PORTICO_SIGNING_KEY: file },
    prepare: async (server) => {
      machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    },
  });
  const token = async (): Promise<string> => {
    const fields = { grant_type: "client_credentials", scope: "posts:read" };
    return (await post(server, "/token", fields, basic(machine))).body.access_token;
  };
  const kidOf = (jwt: string): string =>
    JSON.parse(Buffer.from(jwt.split(".")[0]!, "base64url").toString()).kid;
  const kids = async (): Promise<string[]> =>
    (await server.request("/oauth/jwks", { key: null })).body.keys.map(({ kid }: { kid: string }) => kid);

  test("signs tokens, and is published without its private part", async () => {
    const key = await token();
    const [head, body, signature] = key.split(".");
    const signed = { key: createPublicKey(first), dsaEncoding: "ieee-p1363" } as const;
    assert.ok(verify("sha256", Buffer.from(`${head}.${body}`), signed, Buffer.from(signature!, "base64url")));
    assert.equal((await server.request("/posts", { key })).status, 200);
    assert.deepEqual(await kids(), [thumbprint(first)]);
    assert.doesNotMatch((await server.request("/oauth/jwks", { key: null })).text, /"d"/);
  });

  test("can be replaced without a restart, and the old one still verifies", async () => {
    const before = await token();
    const keys = [second, first].map((key) => key.export({ format: "jwk" }));
    renameSync(fileOf("next.json", JSON.stringify({ keys })), file);
    for (const until = Date.now() + 15_000; kidOf(await token()) !== thumbprint(second); await sleep(200))
      assert.ok(Date.now() < until, "the other key is not used");
    assert.deepEqual(await kids(), [thumbprint(second), thumbprint(first)]);
    for (const key of [before, await token()])
      assert.equal((await server.request("/posts", { key })).status, 200);
    fileOf("key.pem", "half a fi");
    for (const until = Date.now() + 15_000; !/signing keys cannot be read/.test(server.portico.output); ) {
      assert.ok(Date.now() < until, "the faulty file is not reported");
      assert.equal(kidOf(await token()), thumbprint(second));
      await sleep(200);
    }
  });
});

onEachDatabase("tokens that the operator signs for others with the same key", (database) => {
  const key = makeKey();
  const server = serve(database, {
    env: { PORTICO_SIGNING_KEY: fileOf(`shared-${database}.pem`, pemOf(key)) },
  });

  test("are refused unless all their claims are those of an access token", async () => {
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    const fields = { grant_type: "client_credentials", scope: "posts:read" };
    const { body } = await post(server, "/token", fields, basic(machine));
    const [header, payload] = body.access_token.split(".", 2);
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const signed = (changes: object): string => {
      const encoded = Buffer.from(JSON.stringify({ ...claims, ...changes })).toString("base64url");
      const text = `${header}.${encoded}`;
      const signature = sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
      return `${text}.${signature.toString("base64url")}`;
    };
    assert.equal((await server.request("/posts", { key: signed({}) })).status, 200);
    for (const name of ["iss", "aud", "sub", "client_id", "tenant_id", "jti", "iat", "exp"]) {
      for (const value of ["\0", "x", "", 1, null, {}]) {
        // Any text is a valid token id, and any past time a valid time of issue.
        if ((name === "jti" && typeof value === "string") || (name === "iat" && value === 1)) continue;
        const token = signed({ [name]: value });
        const { status } = await server.request("/posts", { key: token });
        assert.equal(status, 401, `${name}: ${JSON.stringify(value)}`);
        const { body } = await post(server, "/introspect", { token }, basic(machine));
        assert.deepEqual(body, { active: false }, `${name}: ${JSON.stringify(value)}`);
      }
    }
  });
});

describe("an invalid signing key stops the start", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey;
  const publicJwk = createPublicKey(makeKey()).export({ format: "jwk" });
  for (const [fact, text] of [
    ["of another kind", pemOf(rsa)],
    ["of another curve", pemOf(p384)],
    ["without its private part", JSON.stringify(publicJwk)],
    [
      "in a set with another that is none",
      JSON.stringify({ keys: [makeKey().export({ format: "jwk" }), {}] }),
    ],
    ["in an empty set", '{"keys":[]}'],
    ["that is not JSON", "{null"],
    ["that is too large", `${pemOf(makeKey())}${"\n".repeat(70_000)}`],
  ] as const) {
    test(`one ${fact}`, async () => {
      const workspace = await makeWorkspace("sqlite");
      try {
        const env = { PORT: "0", PORTICO_SIGNING_KEY: fileOf("faulty", text) };
        const { code, stderr } = await porticoProcess(workspace, ["serve"], { env });
        assert.equal(code, 1);
        assert.match(
          stderr,
          /^portico: PORTICO_SIGNING_KEY is \S+faulty; it must hold private keys for ES256[^\n]+\n$/,
        );
      } finally {
        await workspace.remove();
      }
    });
  }

  test("a missing file; and a key from a file cannot be rotated by the command", async () => {
    const workspace = await makeWorkspace("sqlite");
    try {
      const missing = { PORT: "0", PORTICO_SIGNING_KEY: join(folder, "none") };
      assert.match(
        (await porticoProcess(workspace, ["serve"], { env: missing })).stderr,
        /PORTICO_SIGNING_KEY cannot be read/,
      );
      const env = { PORTICO_SIGNING_KEY: fileOf("good.pem", pemOf(makeKey())) };
      const { code, stderr } = await porticoProcess(workspace, ["signing-key", "rotate"], { env });
      assert.equal(code, 1);
      assert.match(stderr, /add a new first key to \S+good\.pem instead\n$/);
    } finally {
      await workspace.remove();
    }
  });
});
