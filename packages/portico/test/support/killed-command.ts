// Runs a command that is killed with SIGKILL, later each time, until it ends without being killed.

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

export interface KilledCommandOptions extends ProcessCommandOptions {
  /** Whether a result is that of a command that has nothing left to do. A command killed at its last step is done. */
  readonly isDone?: (result: CommandResult) => boolean;
}

/**
 * Kills the command at its first step, and then each time after 1.5 to 2 times as many steps. These differ from run to run
 * of the tests, so that all of them are tried in time.
 *
 * @param afterKill called after each run that was killed
 */
export async function untilDone(
  workspace: Workspace,
  words: readonly string[],
  { env = {}, isDone = ({ code }) => code === 0, ...options }: KilledCommandOptions = {},
  afterKill: () => Promise<void> = async () => {},
): Promise<KilledCommand> {
  for (
    let kills = 0, killAt = 1;
    ;
    kills += 1, killAt += 1 + Math.floor(killAt * (0.5 + Math.random() / 2))
  ) {
    const preloaded = { ...env, NODE_OPTIONS: `--import ${preload}`, KILL_AT: String(killAt) };
    const result = await porticoProcess(workspace, words, { ...options, env: preloaded });
    if (result.code !== null) {
      assert.ok(isDone(result), result.stderr);
      return { kills, result };
    }
    await afterKill();
  }
}
