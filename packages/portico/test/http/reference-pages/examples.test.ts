// The examples of the reference pages run as they are shown, but for the key and the id: in a shell, in Node and in Python.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { languages } from "../../../src/reference-pages/sample-code.ts";
import { verification } from "../../../src/reference-pages/webhook-verification.ts";
import { signatureHeaders } from "../../../src/webhooks/secret.ts";
import { whyMissing } from "../../support/installed-programs.ts";
import { makeClient } from "../../support/oauth.ts";
import { codeOf, getText } from "../../support/reference-pages.ts";
import { serve } from "../../support/scenario.ts";

const run = promisify(execFile);
const modules = join(import.meta.dirname, "../../fixtures/python");

/** Runs code. Python finds `requests` in the fixtures. */
const programs: Readonly<Record<string, (code: string) => Promise<{ stdout: string }>>> = {
  curl: (code) => run("sh", ["-ec", code.replaceAll(/^curl/gm, "curl -sS --fail-with-body")]),
  JavaScript: (code) => run(process.execPath, ["--input-type=module", "-e", code]),
  Python: (code) =>
    run("python3", ["-c", code], {
      env: { ...process.env, PYTHONPATH: modules, PYTHONDONTWRITEBYTECODE: "1" },
    }),
};

const programOf: Readonly<Record<string, string>> = { curl: "curl", JavaScript: "node", Python: "python3" };

/** Text that each language writes differently. */
const oddText = `it's "odd": \\ $HOME \`ls\` %s {x} \${y} é 日本 😀\n\ttrue None\u2028!`;

describe("examples of the reference pages", () => {
  const server = serve("sqlite");

  for (const [language, codeFor] of languages)
    test(`in ${language}`, { skip: whyMissing(programOf[language]!) }, async () => {
      const { key } = server.portico;
      const { id } = await server.create("/posts", { title: "To be changed" });
      const { text: page } = await getText(server, "/docs/operations/posts");
      const shown = ["createPost", "listPosts", "getPost", "updatePost", "replacePost", "deletePost"];
      const odd = codeFor({
        method: "POST",
        url: `${server.url}/v1/posts`,
        headers: { Authorization: "Bearer YOUR_KEY" },
        body: {
          kind: "json",
          type: "application/json",
          value: { title: `Odd in ${language}`, body: oddText },
        },
        returnsJson: true,
      });
      const code = [odd, ...shown.map((name) => codeOf(page, `${name}-${language}`))].map((each) =>
        each.replaceAll("YOUR_KEY", key).replaceAll(/\bpost_[0-9a-z]{26}\b/g, id),
      );
      // Each example in JavaScript declares `response`.
      const scoped = language === "JavaScript" ? code.map((each) => `{\n${each}\n}`) : code;
      const { stdout } = await programs[language]!(scoped.join("\n"));
      assert.match(stdout, /Example title/);
      assert.equal((await server.request(`/posts/${id}`)).status, 404);
      const { body } = await server.request(`/posts?limit=100&q=${encodeURIComponent(`Odd in ${language}`)}`);
      assert.deepEqual(
        body.data.map((row: { body: string }) => row.body),
        [oddText],
      );
    });

  test("those that create something succeed on a new server, but for the key", {
    skip: whyMissing("curl"),
  }, async () => {
    for (const [page, id] of [
      ["invitations", "createInvitation"],
      ["users", "createUser"],
      ["api-keys", "createApiKey"],
      ["oauth-clients", "createOauthClient"],
      ["webhook-endpoints", "createWebhookEndpoint"],
      ["projects", "createProject"],
      ["graphql", "queryGraphql"],
    ] as const) {
      const { text } = await getText(server, `/docs/operations/${page}`);
      const code = codeOf(text, `${id}-curl`).replaceAll("YOUR_KEY", server.portico.key);
      await assert.doesNotReject(programs.curl!(code), `${id}: ${code}`);
    }
  });

  test("those of the authorization server send a token or the credentials of a client", async () => {
    const { text } = await getText(server, "/docs/operations/oauth");
    assert.match(codeOf(text, "getUserInfo-curl"), /Authorization: Bearer YOUR_KEY/);
    const { clientId, clientSecret } = await makeClient(
      server,
      ...["--type", "confidential", "--auth-method", "client_secret_post", "--scopes", "posts:read"],
    );
    const code = codeOf(text, "createToken-curl")
      .replace("YOUR_CLIENT_ID", clientId)
      .replace("YOUR_CLIENT_SECRET", clientSecret!);
    const { stdout } = await programs.curl!(code);
    assert.equal(JSON.parse(stdout).token_type, "Bearer");
  });

  describe("the functions that verify a delivery accept a true one only", () => {
    const secret = `whsec_${Buffer.from("0123456789abcdef").toString("base64")}`;
    const body = JSON.stringify({ id: "event_1", type: "post.created", data: { title: oddText } });
    const headersAt = (timestamp: number) =>
      signatureHeaders([Buffer.from("another key"), Buffer.from("0123456789abcdef")], {
        id: "event_1",
        timestamp,
        body,
      });
    const now = Math.floor(Date.now() / 1000);
    const [valid, old] = [headersAt(now), headersAt(now - 3_600)];
    const unsigned = { ...valid, "webhook-signature": "v1,AAAA v2" };
    const notANumber = { ...headersAt(Number.NaN) };
    const cases = [
      [valid, body, true],
      [old, body, false],
      [unsigned, body, false],
      [notANumber, body, false],
      [valid, `${body} `, false],
    ] as const;
    const input = JSON.stringify(cases.map(([headers, text]) => [headers, text]));
    const expected = cases.map(([, , isValid]) => (isValid ? "post.created" : "refused"));

    test("in JavaScript", async () => {
      const { stdout } = await programs.JavaScript!(`${verification.JavaScript}
      for (const [headers, body] of ${input}) {
        try { console.log(verifiedEvent(${JSON.stringify(secret)}, headers, body).type); } catch { console.log("refused"); }
      }`);
      assert.deepEqual(stdout.trim().split("\n"), expected);
    });

    test("in Python", { skip: whyMissing("python3") }, async () => {
      const { stdout } = await programs.Python!(`${verification.Python}


for headers, body in json.loads(${JSON.stringify(input)}):
    try:
        print(verified_event(${JSON.stringify(secret)}, headers, body.encode())["type"])
    except ValueError:
        print("refused")`);
      assert.deepEqual(stdout.trim().split("\n"), expected);
    });
  });
});
