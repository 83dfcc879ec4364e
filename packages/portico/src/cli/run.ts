// Finds the command of a call and runs it.

import packageJson from "../../package.json" with { type: "json" };
import { OperatorError } from "../errors.ts";
import type { Project } from "../runtime/config.ts";
import {
  type Command,
  type CommandOutput,
  helpOf,
  helpOfAll,
  helpOfGroup,
  parseArguments,
} from "./command.ts";

const { version } = packageJson;

/** Commands by their first word. A call loads only its own group: the server takes much longer to load than `key list`. */
const groups: Readonly<Record<string, () => Promise<{ readonly commands: readonly Command[] }>>> = {
  serve: () => import("./commands/serve.ts"),
  dev: () => import("./commands/dev.ts"),
  migrate: () => import("./commands/migrate.ts"),
  upgrade: () => import("./commands/upgrade.ts"),
  explain: () => import("./commands/explain.ts"),
  schema: () => import("./commands/schema.ts"),
  openapi: () => import("./commands/openapi.ts"),
  types: () => import("./commands/types.ts"),
  tenant: () => import("./commands/tenant.ts"),
  user: () => import("./commands/user.ts"),
  key: () => import("./commands/key.ts"),
  log: () => import("./commands/log.ts"),
  event: () => import("./commands/event.ts"),
  export: () => import("./commands/export.ts"),
  import: () => import("./commands/import.ts"),
  job: () => import("./commands/job.ts"),
  mail: () => import("./commands/mail.ts"),
  client: () => import("./commands/client.ts"),
  webhook: () => import("./commands/webhook.ts"),
  "signing-key": () => import("./commands/signing-key.ts"),
};

const renamedCommands: Readonly<Record<string, string>> = {
  "key change": "key update",
  "client remove": "client delete",
};

/**
 * Runs one command.
 *
 * @param words what follows `portico`: `["key", "list", "--json"]`
 * @returns what to print; undefined for a command that continues to run
 * @throws OperatorError for an invalid command line or project
 */
export async function run(words: readonly string[], project: Project): Promise<string | undefined> {
  const [first, second] = words;
  if (first === "help" && second !== undefined) return run([...words.slice(1), "--help"], project);
  if (first === undefined || isHelpFlag(first)) return helpOfAll(await everyCommand());
  if (["--version", "-v"].includes(first)) return version;
  const commands = Object.hasOwn(groups, first) ? (await groups[first]!()).commands : [];
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (!command) {
    if (commands.length > 0 && (second === undefined || isHelpFlag(second)))
      return helpOfGroup(first, commands);
    const name = second === undefined || second.startsWith("-") ? first : `${first} ${second}`;
    const renamed = renamedCommands[name];
    if (renamed !== undefined) throw new OperatorError(`'${name}' is now '${renamed}'`);
    throw new OperatorError(`unknown command '${name}'; see portico --help`);
  }
  const args = parseArguments(command, words.slice(command.name.split(" ").length), project);
  if (args.isSet("help")) return helpOf(command);
  for (const [name, { isRequired }] of Object.entries(command.options)) if (isRequired) args.required(name);
  const output = await command.run(args);
  return output && outputText(output, args.isSet("json"));
}

function isHelpFlag(word: string): boolean {
  return ["--help", "-h", "help"].includes(word);
}

async function everyCommand(): Promise<readonly Command[]> {
  const loaded = await Promise.all(Object.values(groups).map((load) => load()));
  return loaded.flatMap(({ commands }) => commands);
}

function outputText({ json, lines }: CommandOutput, isJson: boolean): string {
  return isJson ? JSON.stringify(json) : lines.join("\n");
}
