// The program of a process that serves one version of the declarations for `portico dev`, which tells it when to load
// them, passes connections to it, and closes it. It ends with the process that started it.

import type { Socket } from "node:net";
import { OperatorError } from "../../errors.ts";
import { buildApi } from "../../graphql/schema/schema.ts";
import { standardOutput } from "../../http/logging/log.ts";
import { composeApp } from "../../runtime/compose.ts";
import { configFile, loadApp } from "../../runtime/config.ts";
import { greeting } from "../../runtime/sandbox.ts";
import { readSettings } from "../../runtime/settings/settings.ts";
import { createComposedServer, type PorticoServer } from "../../server.ts";
import { environmentFile, loadEnvironmentFile } from "../environment-file.ts";
import { operatorMessage } from "../operator-message.ts";
import { handleProcessEvents } from "../process-events.ts";

import { changedParts, type DeclaredParts, declaredParts } from "./declared-parts.ts";
import { withPosition } from "./declared-position.ts";
import { LoadedFiles } from "./loaded-files.ts";
import { type Instruction, liveMode, type Report, type Serving } from "./messages.ts";
import { migrationLines } from "./migration-lines.ts";
import { warmUp } from "./warm-up.ts";

const folder = process.cwd();
const environment = process.env;
const loading = Promise.withResolvers<DeclaredParts | undefined>();
const listening = Promise.withResolvers<number>();
let isLoading = false;
let server: PorticoServer | undefined;
let stop = (exitCode: number): void => process.exit(exitCode);

process.on("message", (message: Instruction | "connection", socket: Socket | undefined) => {
  if (message === "connection") {
    // A connection that was closed on its way comes without a socket.
    if (socket) server!.inProcess.accept(socket);
  } else if (message.kind === "load") {
    isLoading = true;
    loading.resolve(message.previous);
  } else if (message.kind === "listening") listening.resolve(message.port);
  else {
    stop(0);
    // handled: it never rejects.
    void server?.inProcess.idleClosed.then(() => send({ kind: "released" }));
  }
});
process.once("disconnect", () => stop(0));

async function serve(previous: DeclaredParts | undefined, files: LoadedFiles): Promise<Serving> {
  loadEnvironmentFile(folder);
  const app = await loadApp(folder);
  const { host, port, mode } = readSettings(environment, app.settings);
  if (mode !== "sandbox") throw new OperatorError(liveMode);
  send({ kind: "settings", host, port });
  const settings = readSettings({ ...environment, PORT: String(await listening.promise) }, app.settings);
  const assembly = composeApp(app, settings);
  // Refuses what cannot be served before anything is migrated.
  buildApi(assembly.model);
  server = await createComposedServer(assembly, standardOutput());
  stop = handleProcessEvents(server);
  await server.start();
  const { url, sandboxKey: key, migration } = server;
  const parts = declaredParts(app);
  return {
    ...{ kind: "serving", url, key, parts, name: app.name },
    greeting: key === undefined ? "" : greeting(server, key),
    changes: previous
      ? [...changedParts(previous, parts), ...migrationLines(migration)]
      : migrationLines(key === undefined ? migration : undefined),
    files: files.hashes,
  };
}

function send(report: Report): void {
  // A process that has lost the one that started it ends soon.
  if (process.connected) process.send!(report);
}

// A process that loads at once has nothing to prepare.
if (process.argv[2] === "standby" && !isLoading) await warmUp();
const previous = await loading.promise;
const files = new LoadedFiles(folder, [configFile, environmentFile], (path, hash) =>
  send({ kind: "file", path, hash }),
);
send({ kind: "loading" });
try {
  send(await serve(previous, files));
} catch (error) {
  const { hashes } = files;
  send({
    kind: "faulty",
    message: withPosition(operatorMessage(error), Object.keys(hashes), folder),
    files: hashes,
  });
}
