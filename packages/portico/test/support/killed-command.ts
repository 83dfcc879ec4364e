// Runs a command that is killed with SIGKILL, later each time, until it ends by itself.

import assert from "node:assert/strict";
import { join } from "node:path";
import { type CommandResult, type ProcessCommandOptions, porticoProcess, type Workspace } from "./server.ts";

const preload = join(import.meta.dirname, "kill-at.mjs");

export interface KilledCommand {
  /** How often it was killed. */
  readonly kills: number;
  /** The result of the last run. */
  readonly result: CommandResult;
}

/** @param afterKill called after each run that was killed */
export async function untilDone(
  workspace: Workspace,
  words: readonly string[],
  { env = {}, ...options }: ProcessCommandOptions = {},
  afterKill: () => Promise<void> = async () => {},
): Promise<KilledCommand> {
  for (let kills = 0, killAt = 1; ; kills += 1, killAt += 1 + Math.ceil(killAt / 3)) {
    const preloaded = { ...env, NODE_OPTIONS: `--import ${preload}`, KILL_AT: String(killAt) };
    const result = await porticoProcess(workspace, words, { ...options, env: preloaded });
    if (result.code !== null) {
      assert.equal(result.code, 0, result.stderr);
      return { kills, result };
    }
    await afterKill();
  }
}
