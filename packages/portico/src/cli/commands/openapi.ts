// portico openapi

import { writeFileSync } from "node:fs";
import { OperatorError } from "../../errors.ts";
import { describeApi } from "../../openapi/describe-api.ts";
import { assemble } from "../../runtime/compose.ts";
import { authUrl } from "../../runtime/settings/settings.ts";
import type { Command } from "../command.ts";

const openApiCommand: Command = {
  name: "openapi",
  summary: "Print the OpenAPI description of the declarations.",
  options: { out: { value: "FILE", help: "write it to this file instead" } },
  async run(args) {
    const { app, model, settings, describedRoutes } = await assemble(args.project);
    const { publicUrl } = settings;
    const urls = { resource: publicUrl, issuer: authUrl(settings, publicUrl) };
    const description = describeApi({ app, model, urls, routes: describedRoutes });
    const text = JSON.stringify(description, null, 2);
    const file = args.text("out");
    if (file === undefined) return { json: { ...description }, lines: [text] };
    try {
      writeFileSync(file, `${text}\n`);
    } catch (error) {
      throw new OperatorError(`${file} cannot be written: ${(error as Error).message}`);
    }
    return { json: { file }, lines: [`Wrote the description to ${file}.`] };
  },
};

export const commands: readonly Command[] = [openApiCommand];
