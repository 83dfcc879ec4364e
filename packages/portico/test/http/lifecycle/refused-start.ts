// Asserts that the server refuses to start.

import assert from "node:assert/strict";
import { type Environment, portico, porticoProcess, type Workspace } from "../../support/server.ts";

/** Asserts that the server refuses to start: one line on standard error with the reason, nothing else, exit code 1. */
export function expectRefusal(
  workspace: Workspace,
  env: Environment,
  line: RegExp,
  cwd?: string,
): Promise<void> {
  return expectRefusalOf(portico, workspace, env, line, cwd);
}

/** Like `expectRefusal`, in a process of its own, which must end too. */
export function expectRefusalOfProcess(workspace: Workspace, env: Environment, line: RegExp): Promise<void> {
  return expectRefusalOf(porticoProcess, workspace, env, line);
}

async function expectRefusalOf(
  run: typeof portico,
  workspace: Workspace,
  env: Environment,
  line: RegExp,
  cwd?: string,
): Promise<void> {
  const options = { env: { PORT: "0", ...env }, ...(cwd !== undefined && { cwd }) };
  const { code, stdout, stderr } = await run(workspace, ["serve"], options);
  assert.match(stderr, /^portico: [^\n]+\n$/);
  assert.match(stderr, line);
  assert.equal(stdout, "");
  assert.equal(code, 1);
}
