// Asks the operator before a command does what cannot be undone.

import { createInterface } from "node:readline/promises";
import { OperatorError } from "../../errors.ts";

/**
 * @param losses what is deleted, in lines
 * @throws OperatorError unless the operator types `yes`, and without a terminal
 */
export async function confirmLosses(losses: readonly string[]): Promise<void> {
  if (!isTerminal()) throw new OperatorError(`this deletes ${losses.join(", ")}; confirm it with --yes`);
  const explanation = `This deletes ${losses.join(",\n  ")}.\nNo server that needs them may be running.`;
  await confirm(explanation, "Type yes to delete them: ", "nothing was deleted");
}

/**
 * @param explanation what the command does
 * @throws OperatorError unless the operator types `yes`, and without a terminal
 */
export async function confirm(
  explanation: string,
  question: string,
  refusal = "nothing was changed",
): Promise<void> {
  if (!isTerminal()) throw new OperatorError(`${explanation} Confirm it with --yes`);
  const { stdin: input, stderr: output } = process;
  output.write(`${explanation}\n`);
  const terminal = createInterface({ input, output });
  try {
    if ((await terminal.question(question)).trim() === "yes") return;
  } catch (error) {
    // Ctrl+C or Ctrl+D ends the question.
    if (!(error instanceof Error && error.name === "AbortError")) throw error;
    output.write("\n");
  } finally {
    terminal.close();
  }
  throw new OperatorError(refusal);
}

function isTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}
