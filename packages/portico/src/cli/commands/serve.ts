// portico serve

import { standardOutput } from "../../http/logging/log.ts";
import { loadApp } from "../../runtime/config.ts";
import { greeting } from "../../runtime/sandbox.ts";
import { readSettings } from "../../runtime/settings/settings.ts";
import { createServer } from "../../server.ts";
import type { Command } from "../command.ts";
import { handleProcessEvents } from "../process-events.ts";

const serve: Command = {
  name: "serve",
  summary: "Serve the API until SIGTERM or SIGINT.",
  options: { json: { help: "print the URL and the first key as one JSON object" } },
  async run(args) {
    const { folder, environment } = args.project;
    const app = await loadApp(folder);
    const settings = readSettings(environment, app.settings);
    const server = await createServer(app, { ...settings, log: standardOutput() });
    await server.listen();
    handleProcessEvents(server);
    const { url, sandboxKey: key } = server;
    const greetingText = key === undefined ? "" : greeting(server, key);
    process.stdout.write(args.isSet("json") ? `${JSON.stringify({ url, key })}\n` : greetingText);
    server.logListening();
    return undefined;
  },
};

export const commands: readonly Command[] = [serve];
