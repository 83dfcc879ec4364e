// The choices for a project: from the command line, or by questions on the terminal.

import { createInterface, type Interface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { type Arguments, isOneOf } from "./arguments.ts";
import { type DatabaseKind, databases, type Example, examples } from "./choices.ts";
import { CreationError } from "./creation-error.ts";
import { type ProjectName, projectName } from "./project-name.ts";
import { requireFreeFolder } from "./write-project.ts";

export interface Choices extends ProjectName {
  readonly example: Example;
  readonly database: DatabaseKind;
}

const defaultFolder = "my-api";
const defaultExample = "blank";
const defaultDatabase = "sqlite";

/**
 * The choices of the command line, with defaults.
 *
 * @param from the folder to which paths are relative
 * @throws CreationError without a folder, or for one that cannot be used
 */
export function choicesOf(words: Arguments, from: string): Choices {
  if (words.folder === undefined) throw new CreationError("name the folder: create-portico my-api");
  return {
    ...usableFolder(words.folder, from),
    example: words.example ?? defaultExample,
    database: words.database ?? defaultDatabase,
  };
}

/**
 * Asks for the choices that the command line does not contain. After an invalid answer it asks again.
 *
 * @throws CreationError if the input ends, or with Ctrl+C
 */
export async function askChoices(
  words: Arguments,
  from: string,
  { input, output }: { readonly input: Readable; readonly output: Writable },
): Promise<Choices> {
  // A folder of the command line that cannot be used is an error, as the caller may be a script with a terminal.
  const given = words.folder === undefined ? undefined : usableFolder(words.folder, from);
  const terminal = createInterface({ input, output });
  const questions = new Questions(terminal, output);
  try {
    return {
      ...(given ?? (await questions.folder(from))),
      example: words.example ?? (await questions.choice("Example", examples, defaultExample)),
      database: words.database ?? (await questions.choice("Database", databases, defaultDatabase)),
    };
  } finally {
    terminal.close();
  }
}

function usableFolder(folder: string, from: string): ProjectName {
  const named = projectName(folder, from);
  requireFreeFolder(named.folder);
  return named;
}

class Questions {
  readonly #terminal: Interface;
  readonly #output: Writable;
  readonly #ended = new AbortController();

  constructor(terminal: Interface, output: Writable) {
    this.#terminal = terminal;
    this.#output = output;
    terminal.once("close", () => this.#ended.abort());
  }

  async folder(from: string): Promise<ProjectName> {
    for (;;) {
      const answer = await this.#ask(`Folder (${defaultFolder}): `);
      try {
        return usableFolder(answer || defaultFolder, from);
      } catch (error) {
        if (!(error instanceof CreationError)) throw error;
        this.#output.write(`  ${error.message}\n`);
      }
    }
  }

  /** A choice by its name or its number. */
  async choice<Name extends string>(
    title: string,
    choices: Readonly<Record<Name, string>>,
    standard: Name,
  ): Promise<Name> {
    const names = Object.keys(choices) as Name[];
    const width = Math.max(...names.map(({ length }) => length));
    const rows = names.map((name, index) => `  ${index + 1}  ${name.padEnd(width)}  ${choices[name]}\n`);
    this.#output.write(`${title}:\n${rows.join("")}`);
    for (;;) {
      const answer = await this.#ask(`Name or number (${standard}): `);
      const name = answer === "" ? standard : (names[Number(answer) - 1] ?? answer);
      if (isOneOf(choices, name)) return name;
      this.#output.write(`  Answer with one of ${names.join(", ")}.\n`);
    }
  }

  async #ask(question: string): Promise<string> {
    try {
      return (await this.#terminal.question(question, { signal: this.#ended.signal })).trim();
    } catch (error) {
      if (!this.#ended.signal.aborted) throw error;
      this.#output.write("\n");
      throw new CreationError("nothing was created");
    }
  }
}
