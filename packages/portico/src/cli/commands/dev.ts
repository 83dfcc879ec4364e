// portico dev

import { OperatorError } from "../../errors.ts";
import type { Command } from "../command.ts";
import { Development } from "../development/development.ts";
import { liveMode } from "../development/messages.ts";
import { ProgressOutput } from "../development/progress-output.ts";

/** A terminal that is closed sends SIGHUP. */
const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

const dev: Command = {
  name: "dev",
  summary:
    "Serve a sandbox, and restart when a declaration changes. A faulty one leaves the server as it is.",
  options: { json: { help: "print one JSON object for each line" } },
  async run(args) {
    const { folder, environment } = args.project;
    if (environment["PORTICO_MODE"] === "live") throw new OperatorError(liveMode);
    const output = new ProgressOutput(folder, args.isSet("json"));
    const development = new Development({ folder, environment }, output);
    stopOnSignals(development);
    await development.start();
    restartOnEnter(development);
    // handled: it reports its own errors.
    void development.restartOnChanges();
    return undefined;
  },
};

/** A second signal does not wait for requests in progress. */
function stopOnSignals(development: Development): void {
  const kill = (): void => {
    development.kill();
    process.exit(1);
  };
  const stop = (): void => {
    for (const signal of signals) process.off(signal, stop).on(signal, kill);
    // handled: it never rejects.
    void development.stop().then(() => process.exit(0));
  };
  for (const signal of signals) process.on(signal, stop);
}

/** For changes outside of the files that are watched: of the database, for example. */
function restartOnEnter(development: Development): void {
  if (!process.stdin.isTTY) return;
  process.stdin.on("data", () => development.restart());
}

export const commands: readonly Command[] = [dev];
