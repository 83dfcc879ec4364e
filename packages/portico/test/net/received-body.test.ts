// The bounds for those who send the lines of an import slowly.

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { Problem } from "../../src/errors.ts";
import { ReceivedBody } from "../../src/net/received-body.ts";

const isTooSlow = (error: unknown): boolean => error instanceof Problem && error.code === "request_timeout";

test("a sender who sends nothing is too slow", async () => {
  const sent = new PassThrough();
  const body = new ReceivedBody(sent, { maxSilenceMs: 20, minBytesPerSecond: 1 });
  sent.write("first");
  assert.equal(String(await body.next()), "first");
  await assert.rejects(body.next(), isTooSlow);
});

test("a sender who always sends something, but little, is too slow", async () => {
  const sent = new PassThrough();
  const body = new ReceivedBody(sent, { maxSilenceMs: 200, minBytesPerSecond: 1_000_000 });
  const sending = setInterval(() => sent.write("."), 10);
  try {
    await assert.rejects(async () => {
      while (await body.next());
    }, isTooSlow);
  } finally {
    clearInterval(sending);
  }
});

test("the time in which the server does not read is not counted", async () => {
  const sent = new PassThrough();
  const body = new ReceivedBody(sent, { maxSilenceMs: 20, minBytesPerSecond: 1 });
  sent.write("a");
  assert.equal(String(await body.next()), "a");
  await new Promise((resolve) => setTimeout(resolve, 50));
  sent.end("b");
  assert.equal(String(await body.next()), "b");
  assert.equal(await body.next(), undefined);
});

test("a connection that breaks, and a server that stops, end the import", async () => {
  const sent = new PassThrough();
  const body = new ReceivedBody(sent);
  const next = body.next();
  body.interrupt(new Problem("unavailable"));
  await assert.rejects(next, (error: Problem) => error.code === "unavailable");
  const broken = new PassThrough();
  const rest = new ReceivedBody(broken).next();
  broken.destroy(new Error("reset"));
  await assert.rejects(rest, (error: Problem) => error.code === "malformed_request");
});
