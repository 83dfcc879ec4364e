// The name, colour and logo that the operator sets for the pages.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Browser } from "../../support/browser.ts";
import { serve } from "../../support/scenario.ts";
import { makeWorkspace, porticoProcess } from "../../support/server.ts";

const folder = mkdtempSync(join(tmpdir(), "portico-brand-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, bytes: Buffer | string): string {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

describe("the brand of the pages", () => {
  const server = serve("sqlite", {
    env: {
      PORTICO_PAGES_NAME: "Bücher & <Söhne>",
      PORTICO_PAGES_COLOUR: "#FFEE00",
      PORTICO_PAGES_LOGO: fileOf("logo.txt", svg),
    },
  });
  const page = () => new Browser().open(`${server.url}/oauth/device`);

  test("its name is in the title, escaped", async () => {
    const { text } = await page();
    assert.match(text, /<title>Connect a device – Bücher &amp; &lt;Söhne&gt;<\/title>/);
    const { body } = await server.request("/.well-known/oauth-protected-resource", { key: null });
    assert.equal(body.resource_name, "Bücher & <Söhne>");
  });

  test("its colour is adjusted for contrast, and the policy allows exactly that style", async () => {
    const { text, headers } = await page();
    const [, style = ""] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
    const [light, dark] = style.split("prefers-color-scheme");
    assert.doesNotMatch(light!, /--accent: #ffee00/);
    assert.match(dark!, /--accent: #ffee00; --on-accent: #000000/);
    const hash = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(style))).toString("base64");
    const policy = headers.get("content-security-policy") ?? "";
    assert.ok(policy.includes(`style-src 'sha256-${hash}'; img-src 'self';`), policy);
  });

  test("its logo is served from the same origin with its media type and a restrictive policy", async () => {
    const { text } = await page();
    const [, source, name] =
      /<img class="logo" src="(\/oauth\/logo\?v=[\w-]+)" alt="([^"]+)">/.exec(text) ?? [];
    assert.equal(name, "Bücher &amp; &lt;Söhne&gt;");
    const logo = await new Browser().open(new URL(source!, server.url).href);
    assert.deepEqual([logo.status, logo.text], [200, svg]);
    assert.equal(logo.headers.get("content-type"), "image/svg+xml");
    assert.match(logo.headers.get("content-security-policy") ?? "", /^default-src 'none'; .*sandbox$/);
    assert.equal(logo.headers.get("x-content-type-options"), "nosniff");
  });
});

describe("pages without a brand", () => {
  const server = serve("sqlite", { env: { PORTICO_PAGES_LOGO: "" } });

  test("have the name of the app and no image", async () => {
    const { text, headers } = await new Browser().open(`${server.url}/oauth/device`);
    assert.match(text, /<title>Connect a device – Portico<\/title>/);
    assert.doesNotMatch(text, /<img/);
    assert.doesNotMatch(headers.get("content-security-policy") ?? "", /img-src/);
    assert.equal((await new Browser().open(`${server.url}/oauth/logo`)).status, 404);
  });
});

describe("a faulty brand stops the start", () => {
  for (const [fact, env, message] of [
    ["a colour by name", { PORTICO_PAGES_COLOUR: "red" }, /PORTICO_PAGES_COLOUR is 'red'.*#0b57d0/],
    ["a colour that ends a rule", { PORTICO_PAGES_COLOUR: "#000;}*" }, /PORTICO_PAGES_COLOUR/],
    ["a name of two lines", { PORTICO_PAGES_NAME: "a\nb" }, /PORTICO_PAGES_NAME must be one line/],
    [
      "a logo that is not there",
      { PORTICO_PAGES_LOGO: join(folder, "none.png") },
      /PORTICO_PAGES_LOGO cannot be read/,
    ],
    [
      "a logo that is none",
      { PORTICO_PAGES_LOGO: fileOf("page.png", "<html><svg></svg></html>") },
      /must be a PNG/,
    ],
    [
      "a logo that is too large",
      { PORTICO_PAGES_LOGO: fileOf("large.png", Buffer.concat([png, Buffer.alloc(300 * 1024)])) },
      /at most 256 KiB/,
    ],
  ] as const) {
    test(fact, async () => {
      const workspace = await makeWorkspace("sqlite");
      try {
        const { code, stderr } = await porticoProcess(workspace, ["serve"], { env: { PORT: "0", ...env } });
        assert.equal(code, 1);
        assert.match(stderr, message);
        assert.equal(stderr.trim().split("\n").length, 1, stderr);
      } finally {
        await workspace.remove();
      }
    });
  }
});
