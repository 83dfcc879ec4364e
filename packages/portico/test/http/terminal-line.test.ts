// Lines of the log on a terminal.

import { equal } from "node:assert/strict";
import { test } from "node:test";
import { terminalLine } from "../../src/http/logging/terminal-line.ts";

const time = new Date(2026, 10, 23, 9, 5, 7, 42).getTime();
const formatted = (members: object): string => terminalLine(JSON.stringify({ level: 30, time, ...members }));

test("a line of the log shows the time, the level, the message and all other members", () => {
  equal(formatted({ level: 40, port: 3000, msg: "slow" }), '[09:05:07.042] WARN: slow {"port":3000}');
  equal(formatted({ msg: "stopped" }), "[09:05:07.042] INFO: stopped");
});

test("a request is one line", () => {
  const request = { method: "GET", path: "/posts", status: 200, durationMs: 3, requestId: "a" };
  equal(
    formatted({ ...request, msg: "request" }),
    '[09:05:07.042] INFO: GET /posts 200 3 ms {"requestId":"a"}',
  );
});

test("the stack of an error follows its line", () => {
  const err = { type: "Error", message: "full", stack: "Error: full\n    at write" };
  equal(
    formatted({ level: 50, err, msg: "failed" }),
    "[09:05:07.042] ERROR: failed\n    Error: full\n        at write",
  );
  equal(formatted({ err: "full", msg: "failed" }), '[09:05:07.042] INFO: failed {"err":"full"}');
});

test("control characters of a message do not reach the terminal", () => {
  equal(formatted({ msg: "\u001b[2Jgone\u009b" }), "[09:05:07.042] INFO: \ufffd[2Jgone\ufffd");
});

test("what is no JSON object stays as it is", () => {
  for (const line of ["Portico is running.", "{ no JSON", "12"]) equal(terminalLine(line), line);
});
