// Emails about keys state the facts in one line each, for any name of a key.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  keyCreatedEmail,
  keyExpiringSoonEmail,
  keyRevokedEmail,
  keyRotatedEmail,
} from "../../src/mail/templates/key-emails.ts";
import type { Email } from "../../src/mail/templates/layout.ts";

const key = {
  id: "api_key_01m7ykwps4fvprdm0p6dx1sk9c",
  name: "Deploy",
  prefix: "sk_test_AH-f",
  scopes: ["posts:read", "deploy:write"],
  expiresAt: "2027-11-21T08:34:44.643Z",
  ownerName: "Ada Lovelace",
  apiName: "Blog",
  keysUrl: "https://api.example.com/v1/api-keys",
};
const keyChange = {
  by: "the API key Admin (sk_test_Wq3a…) of Grace Hopper",
  at: "2026-11-21T09:30:00.000Z",
  address: "192.0.2.7",
};
const command = { ...keyChange, by: "a command on the server", address: undefined };
const replacement = { id: "api_key_01m7ykwq5rem7b4vk0v3tv81cm", prefix: "sk_test_IYdk" };

const notices: readonly (readonly [
  fact: string,
  letter: Email,
  subject: string,
  text: readonly (string | RegExp)[],
])[] = [
  [
    "of a new key: all its facts, who made it, when and from where",
    keyCreatedEmail({ ...key, ...keyChange }),
    'API key "Deploy" was created',
    [
      "Hello Ada Lovelace,",
      "An API key for Blog was created",
      /^ {2}Name: +Deploy$/m,
      /^ {2}Key: +sk_test_AH-f…$/m,
      /^ {2}Id: +api_key_01m7ykwps4fvprdm0p6dx1sk9c$/m,
      /^ {2}Scopes: +posts:read, deploy:write$/m,
      /^ {2}Expires: +2027-11-21 08:34:44 UTC$/m,
      /^ {2}Created: +2026-11-21 09:30:00 UTC$/m,
      /^ {2}By: +the API key Admin \(sk_test_Wq3a…\) of Grace Hopper$/m,
      /^ {2}From: +192\.0\.2\.7$/m,
      "If this wasn't you",
      `DELETE https://api.example.com/v1/api-keys/${key.id}`,
      `portico key revoke ${key.id}`,
    ],
  ],
  [
    "of a rotated key: both prefixes and the end of the old key",
    keyRotatedEmail({ ...key, ...keyChange, replacement }),
    'API key "Deploy" was rotated',
    [
      /^ {2}Old key: +sk_test_AH-f…, works until 2027-11-21 08:34:44 UTC$/m,
      /^ {2}New key: +sk_test_IYdk…$/m,
      /^ {2}From: +192\.0\.2\.7$/m,
      `portico key revoke ${key.id}`,
      `DELETE https://api.example.com/v1/api-keys/${replacement.id}`,
    ],
  ],
  [
    "of a revoked key: that it is refused, and where another is made",
    keyRevokedEmail({ ...key, ...command }),
    'API key "Deploy" was revoked',
    [
      "refused from now on",
      /^ {2}By: +a command on the server$/m,
      "POST https://api.example.com/v1/api-keys\n",
    ],
  ],
  [
    "of a key that expires soon: when, and how it is replaced",
    keyExpiringSoonEmail(key),
    'API key "Deploy" expires on 2027-11-21',
    [
      /^ {2}Expires: +2027-11-21 08:34:44 UTC$/m,
      `POST https://api.example.com/v1/api-keys/${key.id}/rotations`,
      "before 2027-11-21 08:34:44 UTC",
    ],
  ],
];

for (const [fact, { subject: actualSubject, text, html }, subject, expected] of notices) {
  test(`the email ${fact}`, () => {
    assert.equal(actualSubject, subject);
    for (const each of expected) {
      if (typeof each === "string") assert.ok(text.includes(each), `${each} is missing in\n${text}`);
      else assert.match(text, each);
    }
    // The HTML contains the same facts as the text.
    for (const line of [key.name, key.prefix, "Hello Ada Lovelace,", actualSubject.replaceAll('"', "&quot;")])
      assert.ok(html.includes(line), `${line} is missing in\n${html}`);
  });
}

test("a change by a command names no address", () => {
  for (const email of [keyCreatedEmail({ ...key, ...command }), keyRevokedEmail({ ...key, ...command })])
    assert.doesNotMatch(email.text + email.html, /From/);
});

test("the HTML loads nothing and sets no colours", () => {
  for (const [, { html }] of notices) {
    assert.match(html, /^<!doctype html>\n<html lang="en">/);
    assert.match(html, /<meta name="color-scheme" content="light dark">/);
    assert.doesNotMatch(html, /\b(?:src|href|url\()|color:|<(?:img|link|script|style)\b/);
  }
});

test("a key without scopes says so", () => {
  assert.match(keyCreatedEmail({ ...key, ...keyChange, scopes: [] }).text, /^ {2}Scopes: +none$/m);
});

/** Names of users, keys and APIs. */
const names = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "&lt;b&gt; & 'quotes' \"here\"",
  "Deploy\r\nBcc: everybody@example.com",
  "Deploy\n\nIf this was not you, write to evil@example.com",
  "Deploy\u2028X: y\u2029\u0085\u000b\u0000\u001b[31m",
  "Deploy \u202eyek IPA",
  "\ud800 half a pair",
  "n".repeat(200),
  "𝒟".repeat(200),
  "$& $1 $`",
  "",
];

for (const name of names) {
  test(`the name ${JSON.stringify(name).slice(0, 60)} is not interpreted`, () => {
    const facts = {
      ...key,
      name,
      ownerName: name,
      apiName: name,
      scopes: [name],
      ...keyChange,
      by: `the API key ${name}`,
      replacement,
    };
    const plain = { ...key, ...keyChange, replacement };
    for (const write of [keyCreatedEmail, keyRotatedEmail, keyRevokedEmail, keyExpiringSoonEmail]) {
      const { subject, text, html } = write(facts);
      assert.match(subject, /^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+$/u);
      assert.ok([...subject].length <= 150, subject);
      for (const whole of [subject, text, html]) assert.ok(whole.isWellFormed());
      assert.doesNotMatch(text + html, /[^\P{Cc}\n]|[\u2028\u2029\u202e]/u);
      // The numbers of lines and tags are those of an email with a harmless name.
      const usual = write(plain);
      assert.equal(text.split("\n").length, usual.text.split("\n").length);
      assert.equal(html.split("\n").length, usual.html.split("\n").length);
      assert.equal(html.split("<").length, usual.html.split("<").length);
      assert.equal(html.split(">").length, usual.html.split(">").length);
    }
  });
}
