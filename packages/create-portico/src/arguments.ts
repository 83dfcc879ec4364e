// The command line.

import { parseArgs } from "node:util";
import { type DatabaseKind, databases, type Example, examples } from "./choices.ts";
import { CreationError } from "./creation-error.ts";

export interface Arguments {
  readonly folder: string | undefined;
  readonly example: Example | undefined;
  readonly database: DatabaseKind | undefined;
  /** Whether defaults are taken instead of asking. */
  readonly isYes: boolean;
  readonly installs: boolean;
  readonly isHelp: boolean;
  readonly isVersion: boolean;
}

export const help = `create-portico [FOLDER] [options]

Creates a project with Portico, and installs its packages. Nothing is overwritten.

  --example NAME     ${Object.keys(examples).join(", ")} (blank)
  --database NAME    ${Object.keys(databases).join(", ")} (sqlite)
  --yes              ask nothing; FOLDER is required
  --no-install       write the files only
  --version          print the version
  --help             show this help

With npm, options follow two hyphens: npm create portico@latest my-api -- --example blog`;

/** @param words what follows the name of the command @throws CreationError for an unknown option or value */
export function parseArguments(words: readonly string[]): Arguments {
  const { values, positionals } = parsed(words);
  if (positionals.length > 1)
    throw new CreationError(`unexpected argument '${positionals[1]}'; see create-portico --help`);
  return {
    folder: positionals[0],
    example: oneOf(examples, "example", values.example),
    database: oneOf(databases, "database", values.database),
    isYes: values.yes ?? false,
    installs: !values["no-install"],
    isHelp: values.help ?? false,
    isVersion: values.version ?? false,
  };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        example: { type: "string" },
        database: { type: "string" },
        yes: { type: "boolean", short: "y" },
        "no-install": { type: "boolean" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    throw new CreationError(`${(error as Error).message.split(/\. |\.?\n/)[0]}; see create-portico --help`);
  }
}

function oneOf<Name extends string>(
  choices: Readonly<Record<Name, string>>,
  option: string,
  value: string | undefined,
): Name | undefined {
  if (value === undefined) return undefined;
  if (isOneOf(choices, value)) return value;
  throw new CreationError(`--${option} is '${value}'; it must be one of ${Object.keys(choices).join(", ")}`);
}

export function isOneOf<Name extends string>(
  choices: Readonly<Record<Name, string>>,
  value: string,
): value is Name {
  return Object.hasOwn(choices, value);
}
