// The credentials of open connections, which are verified again and again.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "../../src/declare/caller.ts";
import { Problem } from "../../src/errors.ts";
import { CredentialWatcher } from "../../src/graphql/subscriptions/credential-watcher.ts";

for (const isValid of [true, false])
  test(`a listener that throws keeps no other from being called (${isValid ? "update" : "revoke"})`, async () => {
    const errors: string[] = [];
    const called: string[] = [];
    const stops: (() => void)[] = [];
    const verify = async (): Promise<Caller> => {
      if (isValid) return {} as Caller;
      throw new Problem("invalid_credential");
    };
    const watcher = new CredentialWatcher(verify, (error) => errors.push((error as Error).message));
    const presented = { headers: { "x-api-key": "key" }, rawHeaders: [] };
    const fail = (): never => {
      throw new Error("failed");
    };
    const second = new Promise<void>((resolve) => {
      stops.push(watcher.watch(presented, { update: fail, revoke: fail }));
      const call = (name: string) => () => resolve(void called.push(name));
      stops.push(watcher.watch(presented, { update: call("update"), revoke: call("revoke") }));
    });
    await second;
    deepEqual(errors, ["failed"]);
    deepEqual(called, [isValid ? "update" : "revoke"]);
    for (const stop of stops) stop();
  });
