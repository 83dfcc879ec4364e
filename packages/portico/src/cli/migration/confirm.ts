// Asks the operator before values are deleted.

import { createInterface } from "node:readline/promises";
import { OperatorError } from "../../errors.ts";

/**
 * @param losses what is deleted, in lines
 * @throws OperatorError unless the operator types `yes`, and without a terminal
 */
export async function confirmLosses(losses: readonly string[]): Promise<void> {
  const { stdin: input, stderr: output } = process;
  if (!input.isTTY || !output.isTTY)
    throw new OperatorError(`this deletes ${losses.join(", ")}; confirm it with --yes`);
  output.write(`This deletes ${losses.join(",\n  ")}.\nNo server that needs them may be running.\n`);
  const terminal = createInterface({ input, output });
  try {
    if ((await terminal.question("Type yes to delete them: ")).trim() === "yes") return;
  } finally {
    terminal.close();
  }
  throw new OperatorError("nothing was deleted");
}
