// portico types

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { OperatorError } from "../../errors.ts";
import { assemble } from "../../runtime/compose.ts";
import type { Command } from "../command.ts";
import { printApiTypes } from "../printed-types.ts";

const heading =
  "// The types of the API, for `createClient<Api>` of portico/client. Made by: portico types\n\n";

const typesCommand: Command = {
  name: "types",
  summary: "Print the types of the API, for clients in other repositories.",
  options: {
    out: { value: "FILE", help: "write them to this file instead" },
    check: { help: "write nothing, and fail if the file of --out differs" },
  },
  async run(args) {
    const { model } = await assemble(args.project);
    const types = heading + printApiTypes(model);
    const name = args.text("out");
    if (name === undefined) {
      if (args.isSet("check")) throw new OperatorError("--check needs --out, the file to compare");
      return { json: { types }, lines: [types.trimEnd()] };
    }
    const file = resolve(args.project.folder, name);
    if (args.isSet("check")) {
      if (read(file) !== types)
        throw new OperatorError(`${name} is not up to date; run: portico types --out ${name}`);
      return { json: { file: name, isCurrent: true }, lines: [`${name} is up to date.`] };
    }
    try {
      writeFileSync(file, types);
    } catch (error) {
      throw new OperatorError(`${name} cannot be written: ${(error as Error).message}`);
    }
    return { json: { file: name }, lines: [`Wrote the types to ${name}.`] };
  },
};

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

export const commands: readonly Command[] = [typesCommand];
