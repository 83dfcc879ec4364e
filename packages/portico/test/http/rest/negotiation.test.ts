// Media types and sizes: 406, 413, 415.

import assert from "node:assert/strict";
import { test } from "node:test";
import { exchange, expectAnswer, parseAnswer, scenarios, serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const json = "application/json; charset=utf-8";
const mebibyte = 1024 * 1024;

onOneDatabase("negotiation", (database) => {
  const server = serve(database);

  for (const accept of [
    "application/json",
    "application/*",
    "*/*",
    "text/html, */*;q=0.1",
    "text/html, application/json;q=0.5",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
  ]) {
    test(`'Accept: ${accept}' has a response in JSON`, async () => {
      const answer = await server.request("/posts", { headers: { accept } });
      expectAnswer(answer, { status: 200, headers: { "content-type": json } });
    });
  }

  for (const accept of ["text/html", "application/xml", "application/json;q=0", "text/*, image/png", "x"]) {
    test(`'Accept: ${accept}' is 406, with an error in JSON`, async () => {
      const answer = await server.request("/posts", { headers: { accept } });
      expectAnswer(answer, { status: 406, code: "not_acceptable", headers: { "content-type": json } });
    });
  }

  for (const type of [
    "application/json",
    "application/json; charset=utf-8",
    "Application/JSON;charset=UTF-8",
  ]) {
    test(`a body of the type '${type}' is accepted`, async () => {
      const sent = { body: { title: "Typed" }, headers: { "content-type": type } };
      expectAnswer(await server.request("/posts", sent), { status: 201, headers: { "content-type": json } });
    });
  }

  const unsupported = { status: 415, code: "unsupported_media_type" } as const;
  test("a compressed body is refused, and the response says what is accepted", async () => {
    const send = (encoding: string) =>
      server.request("/posts", { body: { title: "x" }, headers: { "content-encoding": encoding } });
    expectAnswer(await send("identity"), { status: 201 });
    for (const encoding of ["gzip", "br", "identity, gzip", "x"]) {
      const headers = { "accept-encoding": "identity" };
      expectAnswer(await send(encoding), { ...unsupported, headers });
    }
  });

  scenarios(server, [
    ...[
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/xml",
      "application/jsonx",
      "application/json-patch+json",
      "json",
    ].map((type) => ({
      fact: `a body of the type '${type}' is 415`,
      path: "/posts",
      body: '{"title":"x"}',
      headers: { "content-type": type },
      ...unsupported,
    })),
    {
      fact: "a PATCH with a form's media type is 415 and changes nothing",
      path: async () => `/posts/${(await server.create("/posts", { title: "Kept" })).id}`,
      method: "PATCH",
      body: "title=x",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      ...unsupported,
    },
  ]);

  const sized = (bytes: number): string => {
    const empty = JSON.stringify({ title: "Sized", body: "" });
    return JSON.stringify({ title: "Sized", body: "x".repeat(bytes - empty.length) });
  };

  test("a body of 1 MiB is read, and validated by its fields", async () => {
    const answer = await server.request("/posts", { body: sized(mebibyte) });
    expectAnswer(answer, { status: 422, details: [{ field: "body", issue: "max" }] });
  });

  test("a body one byte larger is 413", async () => {
    const answer = await server.request("/posts", { body: sized(mebibyte + 1) });
    expectAnswer(answer, { status: 413, code: "payload_too_large" });
  });

  test("a body whose announced length is too large is 413 before it arrives", async () => {
    const head = [
      "POST /posts HTTP/1.1",
      "Host: x",
      `Authorization: Bearer ${server.portico.key}`,
      "Content-Type: application/json",
      "Content-Length: 100000000",
      "Connection: close",
    ].join("\r\n");
    const answer = parseAnswer(await exchange(server.url, `${head}\r\n\r\n`));
    expectAnswer(answer, { status: 413, code: "payload_too_large" });
  });

  test("a chunked body is 413 as soon as it is too large", async () => {
    const chunk = "x".repeat(64 * 1024);
    const head = [
      "POST /posts HTTP/1.1",
      "Host: x",
      `Authorization: Bearer ${server.portico.key}`,
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
      "Connection: close",
    ].join("\r\n");
    const chunks = `${(64 * 1024).toString(16)}\r\n${chunk}\r\n`.repeat(17);
    const received = await exchange(server.url, `${head}\r\n\r\n${chunks}`);
    assert.match(received, /^HTTP\/1\.1 413 /);
    assert.match(received, /"code":"payload_too_large"/);
  });

  test("the server serves others while a large body arrives", async () => {
    const large = server.request("/posts", { body: sized(mebibyte) });
    expectAnswer(await server.request("/healthz"), { status: 200 });
    expectAnswer(await large, { status: 422 });
  });
});
