// An application of examples/ with its server: both are started, and the client is registered, with the commands of its
// README. Only the ports differ.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import { blocksOf, readDocument } from "../support/document.ts";
import { freePort } from "../support/free-port.ts";
import type { User } from "../support/oauth.ts";
import { TestServer } from "../support/scenario.ts";
import { type Environment, makeWorkspace, Portico, projectFolder } from "../support/server.ts";
import { allow, fillInSignIn } from "./application.ts";

export class Example {
  readonly server = new TestServer();
  /** Its first page. Like the user and the password, it is set before the first test. */
  url!: string;
  user!: User;
  password!: string;
  readonly #folder: string;
  readonly #shownPort: string;
  #process: ChildProcess | undefined;

  constructor(folder: string, shownPort: string) {
    this.#folder = folder;
    this.#shownPort = shownPort;
  }

  async start(): Promise<void> {
    const { server } = this;
    const port = String(await freePort());
    const find = commandsOf(readDocument(`${this.#folder}/README.md`).replaceAll(this.#shownPort, port));
    server.workspace = await makeWorkspace("sqlite");
    server.portico = await Portico.start(server.workspace, { env: find("npm start").env });
    const commands = [find("npx portico user create"), find("npx portico client create")];
    const outputs = commands.map(({ words }) => server.command(...words.slice(2)));
    const [{ user }, { clientId, clientSecret }] = await Promise.all(outputs);
    this.user = user;
    this.password = commands[0]!.words[commands[0]!.words.indexOf("--password") + 1]!;
    const { env, words } = find("npx node examples/");
    const known: Environment = { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
    const named = Object.keys(env).map((name) => [name, known[name]!]);
    this.url = await this.#run(words[2]!, {
      ...{ PORT: port, PORTICO_URL: server.url },
      ...Object.fromEntries(named),
    });
  }

  /** @returns the address that the application prints */
  async #run(file: string, env: Environment): Promise<string> {
    // The timeout ends the process if the tests are killed before they can stop it.
    const limits = { timeout: 60_000, killSignal: "SIGKILL" } as const;
    const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
    const child = spawn(process.execPath, [file], { cwd: projectFolder, env, stdio, ...limits });
    this.#process = child;
    const [printed] = await Promise.race([
      once(child.stdout, "data"),
      once(child, "close").then(() => assert.fail(`${file} did not start`)),
    ]);
    return String(printed).trim();
  }

  async stop(): Promise<void> {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) {
      const closed = once(this.#process, "close");
      this.#process.kill("SIGKILL");
      await closed;
    }
    await this.server.portico?.stop();
    await this.server.workspace?.remove();
  }

  /** Signs in on its first page, which then shows the user. */
  async signIn(page: Page): Promise<void> {
    await page.goto(this.url);
    await page.getByText("Sign in", { exact: true }).click();
    await fillInSignIn(page, this.user, this.password);
    await allow(page);
    await page.getByText(`Signed in as Grace Hopper, ${this.user.email}.`).waitFor();
    assert.equal(page.url(), this.url);
  }

  /** Signs out of the application and of Portico. */
  async signOut(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: /^Sign out of/ }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  }
}

/** One example for all tests of the calling suite. */
export function example(folder: string, shownPort: string): Example {
  const example = new Example(folder, shownPort);
  before(() => example.start());
  after(() => example.stop());
  return example;
}

interface Command {
  /** The variables that are assigned before the command. */
  readonly env: Environment;
  readonly words: readonly string[];
}

/** Finds a command of a README by its beginning. */
function commandsOf(markdown: string): (beginning: string) => Command {
  const lines = blocksOf(markdown).flatMap(({ text }) => text.split("\n"));
  const commands = lines.flatMap((line) => (line.startsWith("$ ") ? [commandOf(line.slice(2))] : []));
  return (beginning) => {
    const command = commands.find(({ words }) => words.join(" ").startsWith(beginning));
    assert.ok(command, `the README does not contain ${beginning}`);
    return command;
  };
}

function commandOf(line: string): Command {
  const every = [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const isAssigned = (word: string): boolean => /^[A-Z_]+=/.test(word);
  const env = every.filter(isAssigned).map((word) => word.split("=", 2));
  return { env: Object.fromEntries(env), words: every.filter((word) => !isAssigned(word)) };
}
