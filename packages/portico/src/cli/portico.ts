// The command line: finds the command, runs it, prints what it did. An error is one line and exit 1.

import packageJson from "../../package.json" with { type: "json" };
import { OperatorError, Problem } from "../errors.ts";
import { type Command, helpOf, helpOfAll, type Outcome, parseCall } from "./command.ts";
import { clientCreate, clientList, clientRemove, clientRotate } from "./commands/client.ts";
import { keyChange, keyCreate, keyList, keyRevoke, keyRevokeAll, keyRotate } from "./commands/key.ts";
import { keyUsage } from "./commands/key-usage.ts";
import { logList } from "./commands/log.ts";
import { mailList, mailShow } from "./commands/mail.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { schemaCommand } from "./commands/schema.ts";
import { serve } from "./commands/serve.ts";
import { signingKeyRotate } from "./commands/signing-key.ts";
import { tenantCreate } from "./commands/tenant.ts";
import { userCreate } from "./commands/user.ts";

const { version } = packageJson;

const commands: readonly Command[] = [
  serve,
  migrateCommand,
  schemaCommand,
  tenantCreate,
  userCreate,
  keyCreate,
  keyList,
  keyChange,
  keyRotate,
  keyRevoke,
  keyRevokeAll,
  keyUsage,
  logList,
  mailList,
  mailShow,
  clientCreate,
  clientList,
  clientRotate,
  clientRemove,
  signingKeyRotate,
];

async function main(words: readonly string[]): Promise<void> {
  const command = commands.find(({ name }) => name.split(" ").every((word, place) => words[place] === word));
  if (!command) {
    if (["--version", "-v"].includes(words[0] ?? "")) return print(version);
    const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
    if (group.length > 0 && ["--help", "-h", undefined].includes(words[1])) return print(helpOfAll(group));
    const isHelp = words.length === 0 || ["--help", "-h", "help"].includes(words[0]!);
    if (isHelp) return print(helpOfAll(commands));
    throw new OperatorError(`there is no command '${words.slice(0, 2).join(" ")}'; see: portico --help`);
  }
  const given = parseCall(command, words.slice(command.name.split(" ").length));
  if (given.isSet("help")) return print(helpOf(command));
  for (const [name, { isRequired }] of Object.entries(command.options)) if (isRequired) given.required(name);
  const outcome = await command.run(given);
  if (outcome) print(textOf(outcome, given.isSet("json")));
}

function textOf({ json, lines }: Outcome, isJson: boolean): string {
  return isJson ? JSON.stringify(json) : lines.join("\n");
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`portico: ${messageOf(error)}\n`);
  // Not the exit code only: a driver that still tries to connect would keep the process alive.
  process.exit(1);
}

/** What a person can act on is one line; anything else is a fault of ours, and its place helps to find it. */
function messageOf(error: unknown): string {
  if (error instanceof OperatorError || error instanceof Problem) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
