// The command: asks for choices, writes the project, installs its packages, and prints the next steps.

import { relative } from "node:path";
import { help, parseArguments } from "./arguments.ts";
import { CreationError } from "./creation-error.ts";
import { installPackages } from "./install.ts";
import { askChoices, type Choices, choicesOf } from "./questions.ts";
import { projectFiles, version } from "./templates.ts";
import { writeProject } from "./write-project.ts";

/** Runs the command. An error that the caller can fix is one line on standard error. @param words the arguments */
export async function main(words: readonly string[]): Promise<void> {
  try {
    await run(words);
  } catch (error) {
    const isExpected = error instanceof CreationError;
    process.stderr.write(`create-portico: ${isExpected ? error.message : (error as Error).stack}\n`);
    process.exitCode = 1;
  }
}

async function run(words: readonly string[]): Promise<void> {
  const parsed = parseArguments(words);
  if (parsed.isHelp) return print(help);
  if (parsed.isVersion) return print(version);
  const isAsking = !parsed.isYes && process.stdin.isTTY && process.stdout.isTTY;
  const from = process.cwd();
  const choices = isAsking
    ? await askChoices(parsed, from, { input: process.stdin, output: process.stdout })
    : choicesOf(parsed, from);
  writeProject(choices.folder, projectFiles(choices));
  print(`Created ${choices.name} in ${choices.folder}.`);
  if (parsed.installs) {
    print("Installing its packages with npm. Node 26, which runs Portico, is one of them.");
    await installPackages(choices.folder);
  }
  print(nextSteps(choices, relative(from, choices.folder), parsed.installs));
}

function nextSteps({ database }: Choices, path: string, isInstalled: boolean): string {
  const steps = [
    ...(path === "" ? [] : [`cd ${/^[\w./-]+$/.test(path) ? path : JSON.stringify(path)}`]),
    ...(isInstalled ? [] : ["npm install"]),
    ...(database === "postgres"
      ? ["docker compose up --detach --wait    # or set DATABASE_URL in .env"]
      : []),
    "npm start",
  ];
  return ["", "Next:", "", ...steps.map((step) => `  ${step}`), "", "README.md explains the rest."].join(
    "\n",
  );
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
