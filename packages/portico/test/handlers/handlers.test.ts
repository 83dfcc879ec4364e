// Handlers of events: what they are called with, in which order, and what becomes of those that fail.

import assert from "node:assert/strict";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { acts, calls, notices } from "../fixtures/issues/portico.config.ts";
import { runCommand, serve } from "../support/scenario.ts";
import { onEachDatabase } from "../support/server.ts";
import { until } from "../support/webhook-receiver.ts";

const cwd = join(import.meta.dirname, "../fixtures/issues");
const env = { PORTICO_JOB_SCHEDULE: "0,0", PORTICO_JOB_TIMEOUT: "1" };

onEachDatabase("handlers", (database) => {
  const server = serve(database, { cwd, env });
  const named = (name: string, id: string) =>
    calls.all.filter((call) => call.name === name && call.event.data["id"] === id);
  const command = (...words: string[]) => runCommand(server.workspace, words, { cwd });
  const failedJobs = async () => (await command("job", "list", "--failed")).jobs;
  beforeEach(() => acts.clear());

  test("a handler gets the event after the commit, and writes rows whose events others get", async () => {
    const issue = await server.create("/issues", { title: "Broken" });
    await server.request(`/issues/${issue.id}`, { method: "PATCH", body: { status: "closed" } });
    await calls.until(() => named("updated", issue.id).length === 1);
    const { event, attempt, now } = named("updated", issue.id)[0]!;
    assert.equal(attempt, 1);
    assert.equal(event.type, "issue.updated");
    assert.equal(event.data["status"], "closed");
    assert.ok(!("secret" in event.data));
    assert.ok(event.timestamp <= now);
    const list = async () => (await server.request("/notices")).body.data;
    const [notice] = await until(list, undefined, (rows) => rows.length > 0);
    assert.equal(notice.text, "Broken is closed");
    const { body } = await server.request("/v1/events?type=notice.created");
    assert.equal(body.data[0].data.eventId, event.id);
  });

  test("the events of a row are handled in their order, by each handler on its own", async () => {
    acts.set("Ordered 1", () => {
      if (named("bad", ids[0]!).length < 2) throw new TypeError("not yet");
    });
    const ids = await Promise.all(
      [1, 2].map(async (n) => (await server.create("/issues", { title: `Ordered ${n}` })).id as string),
    );
    for (const id of ids)
      for (const title of ["Second", "Third"])
        await server.request(`/issues/${id}`, { method: "PATCH", body: { title } });
    for (const id of ids) {
      const titles = (name: string) => named(name, id).map(({ event }) => event.data["title"]);
      await calls.until(() => titles("good").length === 3 && new Set(titles("bad")).size === 3);
      assert.deepEqual(titles("good").slice(1), ["Second", "Third"]);
      assert.deepEqual(titles("bad").slice(-2), ["Second", "Third"]);
    }
    assert.deepEqual(
      named("bad", ids[0]!).map(({ attempt }) => attempt),
      [1, 2, 1, 1],
    );
    const eventIds = named("bad", ids[0]!).map(({ event }) => event.id);
    assert.equal(new Set(eventIds.slice(0, 2)).size, 1);
  });

  for (const [fact, act, error] of [
    ["throws", () => Promise.reject(new RangeError("out of range")), /^RangeError: out of range$/],
    ["never ends", () => new Promise(() => {}), /^it did not end within 1 seconds$/],
  ] as const)
    test(`an event whose handler ${fact} is set aside, others go on, and a command retries it`, async () => {
      acts.set(fact, act);
      const issue = await server.create("/issues", { title: fact });
      const other = await server.create("/issues", { title: "Other" });
      await server.request(`/issues/${issue.id}`, { method: "PATCH", body: { title: "Later" } });
      await calls.until(() => named("bad", other.id).length === 1 && named("bad", issue.id).length === 3);
      const [job] = await until(failedJobs, undefined, (jobs) => jobs.length === 1);
      assert.equal(job.handler, "issue.*/bad");
      assert.equal(job.attempts, 2);
      assert.match(job.lastError, error);
      acts.clear();
      assert.equal((await command("job", "retry", job.id)).job.status, "pending");
      await calls.until(() => named("bad", issue.id).length === 4);
      await until(failedJobs, undefined, (jobs) => jobs.length === 0);
    });

  test("whatever a handler throws, its event is set aside and others go on", async () => {
    const unreadable = new Proxy(new Error(), {
      get: () => {
        throw new Error("read");
      },
    });
    const thrown: Readonly<Record<string, readonly [thrown: unknown, lastError: RegExp]>> = {
      NUL: [new Error("a\u0000b\ud800"), /^a\ufffdb\ufffd$/],
      "no message": [Object.assign(new Error(), { message: undefined }), /^undefined$/],
      "no prototype": [Object.create(null), /null prototype/],
      unreadable: [unreadable, /cannot be shown/],
    };
    for (const [title, [error]] of Object.entries(thrown)) {
      acts.set(title, () => Promise.reject(error));
      await server.create("/issues", { title });
    }
    const other = await server.create("/issues", { title: "Other" });
    await calls.until(() => named("bad", other.id).length === 1);
    const jobs = await until(failedJobs, undefined, ({ length }) => length === Object.keys(thrown).length);
    const errors = jobs.map(({ attempts, lastError }: { attempts: number; lastError: string }) => {
      assert.equal(attempts, 2);
      return lastError;
    });
    for (const [, expected] of Object.values(thrown))
      assert.ok(
        errors.some((error: string) => expected.test(error)),
        `${expected} ${errors}`,
      );
    acts.clear();
    for (const { id } of jobs) await command("job", "retry", id);
    await until(failedJobs, undefined, ({ length }) => length === 0);
  });

  test("a handler that has timed out can no longer write", async () => {
    let late: Promise<unknown> = Promise.resolve();
    acts.set("Late", ({ rows, signal, attempt }) => {
      if (attempt > 1) return undefined;
      const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
      late = aborted.then(() => rows.create(notices, { text: "late", eventId: "late" }));
      late.catch(() => {});
      return new Promise(() => {});
    });
    const issue = await server.create("/issues", { title: "Late" });
    await calls.until(() => named("bad", issue.id).length === 2);
    await assert.rejects(late, /did not end within/);
  });

  test("a handler that causes the event it handles is not called without end", async () => {
    const ping = await server.create("/pings", { count: "" });
    const [job] = await until(failedJobs, undefined, (jobs) => jobs.length === 1);
    assert.match(job.lastError, /caused each other's events 10 times/);
    assert.equal((await server.request(`/pings/${ping.id}`)).body.count, "..........");
  });
});
