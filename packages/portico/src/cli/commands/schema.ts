// portico schema

import { writeFileSync } from "node:fs";
import { OperatorError } from "../../errors.ts";
import { printApi } from "../../graphql/schema/print-api.ts";
import { assemble } from "../../runtime/compose.ts";
import type { Command } from "../command.ts";

const schemaCommand: Command = {
  name: "schema",
  summary: "Print the GraphQL schema of the declarations.",
  options: { out: { value: "FILE", help: "write it to this file instead" } },
  async run(args) {
    const { model } = await assemble(args.project);
    const sdl = printApi(model);
    const file = args.text("out");
    if (file === undefined) return { json: { schema: sdl }, lines: [sdl] };
    try {
      writeFileSync(file, `${sdl}\n`);
    } catch (error) {
      throw new OperatorError(`${file} cannot be written: ${(error as Error).message}`);
    }
    return { json: { file }, lines: [`Wrote the schema to ${file}.`] };
  },
};

export const commands: readonly Command[] = [schemaCommand];
