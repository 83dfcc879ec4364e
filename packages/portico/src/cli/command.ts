// The parts of a command, the parsing of its arguments and its help text.

import { parseArgs } from "node:util";
import { OperatorError } from "../errors.ts";
import type { Project } from "../runtime/config.ts";

export interface Option {
  /** The placeholder of its value in the help: `NAME`; undefined for a flag. */
  readonly value?: string;
  readonly help: string;
  readonly isRequired?: boolean;
  /** Whether it can be repeated. */
  readonly isRepeated?: boolean;
}

export type Options = Readonly<Record<string, Option>>;

/** The result of a command: an object for `--json`, and lines for people. */
export interface CommandOutput {
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

export interface Command {
  /** As typed: `key create`. */
  readonly name: string;
  readonly summary: string;
  readonly options: Options;
  /** Required arguments after the name: `["ID"]`. */
  readonly positionals?: readonly string[];
  /** @returns the result; undefined for a command that continues to run */
  run(args: Arguments): Promise<CommandOutput | undefined>;
}

type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** The parsed arguments of a call, and the project it runs in. */
export class Arguments {
  readonly #options: Values;
  readonly positionals: readonly string[];
  readonly project: Project;

  constructor(options: Values, positionals: readonly string[], project: Project) {
    this.#options = options;
    this.positionals = positionals;
    this.project = project;
  }

  text(name: string): string | undefined {
    const value = this.#options[name];
    return typeof value === "string" ? value : undefined;
  }

  /** The value of a required option. @throws OperatorError if it is missing */
  required(name: string): string {
    const value = this.text(name)?.trim();
    if (value) return value;
    throw new OperatorError(`--${name} is required; see --help`);
  }

  number(name: string): number | undefined {
    return this.#numberAtLeast(1, name);
  }

  /** A whole number, including 0. */
  wholeNumber(name: string): number | undefined {
    return this.#numberAtLeast(0, name);
  }

  #numberAtLeast(min: 0 | 1, name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (/^(0|[1-9]\d{0,8})$/.test(value) && Number(value) >= min) return Number(value);
    throw new OperatorError(`--${name} is '${value}'; it must be a whole number of at least ${min}`);
  }

  /** A timestamp; a date means its start in UTC. */
  timestamp(name: string): string | undefined {
    const value = this.text(name);
    return value !== undefined && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : value;
  }

  /** The parts of a comma-separated value. */
  list(name: string): string[] {
    const parts = this.required(name)
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
    if (parts.length > 0) return parts;
    throw new OperatorError(`--${name} is required; see --help`);
  }

  /** All values of an option that can be repeated. */
  all(name: string): readonly string[] {
    const values = this.#options[name];
    return typeof values === "object" ? values : [];
  }

  isSet(name: string): boolean {
    return this.#options[name] === true;
  }
}

const common: Options = {
  json: { help: "print one JSON object" },
  help: { help: "show this help" },
};

/** The options of a command with those that every command has, whose help a command may replace. */
function optionsOf({ options }: Command): Options {
  return { ...options, ...common, ...options };
}

/** @throws OperatorError for an unknown option or a missing argument */
export function parseArguments(command: Command, words: readonly string[], project: Project): Arguments {
  const options = Object.fromEntries(
    Object.entries(optionsOf(command)).map(([name, { value, isRepeated }]) => [
      name,
      { type: value ? ("string" as const) : ("boolean" as const), multiple: isRepeated ?? false },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    const expected = command.positionals ?? [];
    if (!values.help && positionals.length !== expected.length) {
      const extra = positionals[expected.length];
      throw new Error(
        extra === undefined ? `${expected.join(" ")} is required` : `unexpected argument '${extra}'`,
      );
    }
    // Holds as only options with a value can be repeated.
    return new Arguments(values as Values, positionals, project);
  } catch (error) {
    throw new OperatorError(
      `${(error as Error).message.split(/\. |\.?\n/)[0]}; see portico ${command.name} --help`,
    );
  }
}

/** The help text of one command. */
export function helpOf(command: Command): string {
  const rows = Object.entries(optionsOf(command)).map(([name, { value, help, isRequired }]) => {
    const left = `--${name}${value ? ` ${value}` : ""}`;
    return `  ${left.padEnd(26)} ${help}${isRequired ? " (required)" : ""}`;
  });
  const words = [command.name, ...(command.positionals ?? []), "[options]"].join(" ");
  return [`portico ${words}`, "", command.summary, "", ...rows].join("\n");
}

/** The help text of `portico`: every command. */
export function helpOfAll(commands: readonly Command[]): string {
  return [
    "portico COMMAND [options]",
    "",
    "Serves the API that portico.config.ts declares, and manages its tenants, users, keys and clients.",
    "",
    ...summaries(commands),
    "",
    "portico COMMAND --help shows the options of a command. Settings are environment variables, such as DATABASE_URL and PORT.",
  ].join("\n");
}

/** The help text of the commands that begin with the same word, such as `key`. */
export function helpOfGroup(word: string, commands: readonly Command[]): string {
  const call = `portico ${word} COMMAND`;
  return [
    `${call} [options]`,
    "",
    ...summaries(commands),
    "",
    `${call} --help shows the options of a command.`,
  ].join("\n");
}

function summaries(commands: readonly Command[]): string[] {
  const names = commands.map(({ name, positionals = [] }) => [name, ...positionals].join(" "));
  const width = Math.max(...names.map(({ length }) => length));
  return commands.map(({ summary }, index) => `  ${names[index]!.padEnd(width)}  ${summary}`);
}
