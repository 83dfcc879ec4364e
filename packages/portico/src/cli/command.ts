// What a command is made of, and how its words are read and its help written.

import { parseArgs } from "node:util";
import { OperatorError } from "../errors.ts";
import type { Project } from "../runtime/config.ts";

export interface Option {
  /** What stands behind the option: `NAME`; none for a switch. */
  readonly value?: string;
  readonly help: string;
  readonly isRequired?: boolean;
  /** Whether it may stand several times. */
  readonly isRepeated?: boolean;
}

export type Options = Readonly<Record<string, Option>>;

/** What a command did: an object for `--json`, and lines for a person. */
export interface CommandOutput {
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

export interface Command {
  /** Its words: `key create`. */
  readonly name: string;
  readonly summary: string;
  readonly options: Options;
  /** What must stand behind its words: `["ID"]`. */
  readonly positionals?: readonly string[];
  /** Answers with what it did, or with nothing where it goes on working. */
  run(args: Arguments): Promise<CommandOutput | undefined>;
}

type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** The options and positionals of a call, and the project that it is run in. */
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

  /** The value of an option that the command requires. */
  required(name: string): string {
    const value = this.text(name)?.trim();
    if (value) return value;
    throw new OperatorError(`--${name} is missing; see --help`);
  }

  number(name: string): number | undefined {
    return this.#numberAtLeast(1, name);
  }

  /** A whole number, also 0. */
  wholeNumber(name: string): number | undefined {
    return this.#numberAtLeast(0, name);
  }

  #numberAtLeast(min: 0 | 1, name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (/^(0|[1-9]\d{0,8})$/.test(value) && Number(value) >= min) return Number(value);
    throw new OperatorError(`--${name} is '${value}'; it must be a whole number from ${min} on`);
  }

  /** A moment; a date stands for its beginning in UTC. */
  timestamp(name: string): string | undefined {
    const value = this.text(name);
    return value !== undefined && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : value;
  }

  /** The parts of a value separated by commas. */
  list(name: string): string[] {
    const parts = this.required(name)
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
    if (parts.length > 0) return parts;
    throw new OperatorError(`--${name} is missing; see --help`);
  }

  /** Every value of an option that may stand several times. */
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

/** @throws OperatorError for an unknown option or a missing word */
export function parseArguments(command: Command, words: readonly string[], project: Project): Arguments {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, ...common }).map(([name, { value, isRepeated }]) => [
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
        extra === undefined ? `${expected.join(" ")} is missing` : `'${extra}' is not expected`,
      );
    }
    // Only options of texts may stand several times.
    return new Arguments(values as Values, positionals, project);
  } catch (error) {
    throw new OperatorError(
      `${(error as Error).message.split(/\. |\.?\n/)[0]}; see: portico ${command.name} --help`,
    );
  }
}

/** The help of one command. */
export function helpOf(command: Command): string {
  const rows = Object.entries({ ...command.options, ...common }).map(
    ([name, { value, help, isRequired }]) => {
      const left = `--${name}${value ? ` ${value}` : ""}`;
      return `  ${left.padEnd(26)} ${help}${isRequired ? " (required)" : ""}`;
    },
  );
  const words = [command.name, ...(command.positionals ?? []), "[options]"].join(" ");
  return [`portico ${words}`, "", command.summary, "", ...rows].join("\n");
}

/** The help of all commands. */
export function helpOfAll(commands: readonly Command[]): string {
  const rows = commands.map((command) => {
    const words = [command.name, ...(command.positionals ?? [])].join(" ");
    return `  ${words.padEnd(18)} ${command.summary}`;
  });
  return [
    "portico COMMAND [options]",
    "",
    "The front door of an API: serves the resources that portico.config.ts declares.",
    "",
    ...rows,
    "",
    "portico COMMAND --help shows the options of a command. Settings come from the environment: see docs/reference/settings.md.",
  ].join("\n");
}
