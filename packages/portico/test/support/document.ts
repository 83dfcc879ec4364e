// Runs the examples of the documentation in order, against a server started for them.
//
// A ```sh block is run. If a ```json, ```http or ```text block follows, the output must equal it. A ```ts block that
// contains `export default app(` replaces the project's portico.config.ts; one that begins with `// NAME.ts` is that file, for
// `node NAME.ts`. A ```diff block changes the file of the project
// that its first line names, `--- issues.ts`. Other blocks are not run. Exported variables last for the rest of the
// document. These comments, each alone on a line, are instructions:
//
//   <!-- new project -->                   an empty SQLite database and the configuration of this repository
//   <!-- new database: PostgreSQL -->      an empty database for the same project; SQLite if PostgreSQL cannot run
//   <!-- new database: SQLite -->          the same, on SQLite
//   <!-- connect device: EMAIL PASSWORD --> this user confirms the code of the latest device authorization
//   <!-- accept invitation: NAME, PASSWORD --> somebody accepts the invitation whose link is the variable LINK

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectFiles } from "../../../create-portico/src/templates.ts";
import { writeProject } from "../../../create-portico/src/write-project.ts";
import { catalogue } from "../../src/errors.ts";
import { Browser } from "./browser.ts";
import { CommandBridge } from "./command-bridge.ts";
import { type DatabaseName, makeWorkspace, Portico, projectFolder, type Workspace } from "./server.ts";
import { VaryingValues } from "./varying-values.ts";

export interface Block {
  /** Of the code block; `instruction` for a comment that the tests follow. */
  readonly language: string;
  readonly text: string;
  /** Line number in the document, for messages. */
  readonly line: number;
}

const shownUrl = "http://127.0.0.1:3000";
const shownDatabaseUrl = "postgres://portico:secret@127.0.0.1:5432/portico";
const answerLanguages = ["json", "http", "text"];

/** Reads a file of the repository. @param path relative to the root of the repository */
export function readDocument(path: string): string {
  return readFileSync(join(projectFolder, path), "utf8");
}

/** The Markdown files of the repository, sorted, relative to its root. */
export function documentPaths(): string[] {
  const patterns = ["*.md", "docs/**/*.md", "examples/*/*.md", "packages/*/*.md"];
  return globSync(patterns, { cwd: projectFolder }).sort();
}

export function blocksOf(markdown: string): Block[] {
  const pattern =
    /^<!-- (new project|new database: \w+|(?:connect device|accept invitation): [^\n]+) -->$|^```(\w*)\n(.*?)^```$/gms;
  return [...markdown.matchAll(pattern)].map(({ 1: instruction, 2: language, 3: text, index }) => {
    const line = markdown.slice(0, index).split("\n").length;
    if (instruction !== undefined) return { language: "instruction", text: instruction, line };
    return { language: language!, text: text!, line };
  });
}

/** The project that documents begin with. By default that of this repository, on SQLite. */
export interface ProjectOptions {
  readonly database?: DatabaseName;
  /** The folder of another project of this repository: `examples/tracker`. */
  readonly folder?: string;
  /** The example of create-portico from which a new project is created. */
  readonly example?: "blank";
}

/** Runs every example of these documents, in order, in one project. @returns the number of examples */
export async function runDocuments(paths: readonly string[], options?: ProjectOptions): Promise<number> {
  let project = await Project.create(options);
  let examples = 0;
  try {
    for (const path of paths) {
      const blocks = blocksOf(readDocument(path));
      for (const [index, block] of blocks.entries()) {
        if (block.language === "instruction" && block.text === "new project") {
          await project.remove();
          project = await Project.create();
        } else if (block.language === "instruction") await project.follow(block.text);
        if (block.language === "ts" && block.text.includes("export default app("))
          await project.declare(block.text);
        if (block.language === "ts") project.keep(block.text);
        if (block.language === "diff") await project.change(block.text);
        if (block.language !== "sh") continue;
        const next = blocks[index + 1];
        const answer = next && answerLanguages.includes(next.language) ? next : undefined;
        await project.run(block, answer, `${path}:${block.line}: ${block.text.split("\n")[0]}`);
        examples += 1;
      }
    }
  } finally {
    await project.remove();
  }
  return examples;
}

/** The project of a reader who follows the documents: a folder, databases, a running server, exported variables. */
class Project {
  readonly #workspaces: Workspace[];
  #folder: string;
  readonly #commands: CommandBridge;
  readonly #values = new VaryingValues();
  /** The programs of the documents, by their names. */
  readonly #programs = new Map<string, string>();
  #server: Portico | undefined;
  #variables: Readonly<Record<string, string>> = {};
  /** The settings with which the server was started. */
  #settings = "";
  /** The address at which a user confirms the latest device code. */
  #verificationUrl: string | undefined;

  private constructor(workspace: Workspace, folder: string, commands: CommandBridge) {
    this.#workspaces = [workspace];
    this.#folder = folder;
    this.#commands = commands;
  }

  static async create({
    database = "sqlite",
    folder: source,
    example,
  }: ProjectOptions = {}): Promise<Project> {
    const folder = mkdtempSync(join(tmpdir(), "portico-docs-"));
    if (example !== undefined)
      writeProject(folder, projectFiles({ name: "my-api", example, database: "sqlite" }));
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(join(projectFolder, "packages/portico"), join(folder, "node_modules/portico"));
    const names = source ? ["package.json"] : ["service", "portico.config.ts", "package.json"];
    for (const name of example === undefined ? names : [])
      cpSync(join(projectFolder, name), join(folder, name), { recursive: true });
    if (source) cpSync(join(projectFolder, source), folder, { recursive: true, filter: isDeclared });
    return new Project(await makeWorkspace(database), folder, await CommandBridge.start());
  }

  /** Replaces the declarations. */
  async declare(config: string): Promise<void> {
    await this.#move();
    writeFileSync(join(this.#folder, "portico.config.ts"), config);
  }

  /** Keeps a program that a later example runs. */
  keep(program: string): void {
    const name = /^\/\/ ([\w-]+\.ts)\n/.exec(program)?.[1];
    if (name !== undefined) this.#programs.set(name, program);
  }

  /** Replaces the lines of a diff in the file that its first line names. The context must occur once. */
  async change(diff: string): Promise<void> {
    const [title = "", ...lines] = diff.trimEnd().split("\n");
    const without = (sign: string): string =>
      lines
        .filter((line) => !line.startsWith(sign))
        .map((line) => line.slice(1))
        .join("\n");
    await this.#move();
    const path = join(this.#folder, title.replace("--- ", ""));
    const parts = readFileSync(path, "utf8").split(without("+"));
    assert.equal(parts.length, 2, diff);
    writeFileSync(path, parts.join(without("-")));
  }

  /** Stops the server and moves the project to a new folder, as a process loads a file once. */
  async #move(): Promise<void> {
    await this.#stop();
    const folder = mkdtempSync(join(tmpdir(), "portico-docs-"));
    cpSync(this.#folder, folder, { recursive: true, verbatimSymlinks: true });
    rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = folder;
  }

  async follow(instruction: string): Promise<void> {
    const [verb, ...rest] = instruction.split(": ");
    if (verb === "connect device")
      return this.#connectDevice(...(rest[0]!.split(/ (.*)/) as [string, string]));
    if (verb === "accept invitation")
      return this.#acceptInvitation(...(rest[0]!.split(", ") as [string, string]));
    await this.#stop();
    const isPostgres = rest[0] === "PostgreSQL" && process.env.PORTICO_TEST_POSTGRES !== undefined;
    this.#workspaces.push(await makeWorkspace(isPostgres ? "postgres" : "sqlite"));
    this.#variables = {};
  }

  /** Runs an example and compares its output. @param source file and line, for messages */
  async run(command: Block, answer: Block | undefined, source: string): Promise<void> {
    const { status, head, body, code } = await this.#shell(command.text);
    this.#verificationUrl = /"verification_uri_complete":"([^"]+)"/.exec(body)?.[1] ?? this.#verificationUrl;
    if (!answer) {
      assert.ok(code === 0 && (status ?? 200) < 400, `${source}\n${head}\n${body}`);
      return;
    }
    if (answer.language === "text") return this.#same(answer.text.trimEnd(), body.trimEnd(), source);
    const shown = answer.language === "http" ? parseAnswer(answer.text) : { head: "", body: answer.text };
    const shownBody = shown.body.trim() === "" ? "" : JSON.stringify(JSON.parse(shown.body), null, 1);
    const realBody = body.trim() === "" ? "" : JSON.stringify(JSON.parse(body), null, 1);
    this.#same(shownBody, realBody, source);
    if (status !== undefined) assert.equal(status, statusOf(shown, command.text), source);
    for (const header of shown.head.split("\n").slice(1)) {
      const name = header.slice(0, header.indexOf(":") + 1).toLowerCase();
      const real = head.split("\n").find((line) => line.toLowerCase().startsWith(name)) ?? "";
      this.#same(name + header.slice(name.length), name + real.slice(name.length), `${source} (${name})`);
    }
  }

  async remove(): Promise<void> {
    await this.#stop();
    await this.#commands.stop();
    for (const workspace of this.#workspaces) await workspace.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  #same(shown: string, real: string, source: string): void {
    const url = this.#server?.url ?? shownUrl;
    const [left, right] = this.#values.neutral(shown, real.replaceAll(url, shownUrl));
    assert.equal(right, left, source);
  }

  /** Runs a block, with the ids, cursors and tags of the document replaced by those of earlier responses. */
  async #shell(text: string): Promise<RealAnswer> {
    if (/\b(?:curl|node)\b/.test(text)) await this.#serve();
    const url = this.#server?.url ?? shownUrl;
    for (const [name, program] of this.#programs)
      writeFileSync(join(this.#folder, name), program.replaceAll(shownUrl, url));
    const variablesFile = join(this.#folder, "variables");
    const script = [
      'curl() { command curl --silent --show-error --include "$@"; }',
      this.#commands.shellFunction,
      "set -o allexport",
      this.#values
        .real(text)
        .replaceAll(shownUrl, url)
        .replaceAll(shownDatabaseUrl, this.#workspaces.at(-1)!.databaseUrl),
      `code=$?; env --null > "${variablesFile}"; exit $code`,
    ].join("\n");
    const child = spawn("bash", ["--norc", "-c", script], {
      cwd: this.#folder,
      env: this.#environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    const [code] = await once(child, "close");
    const variables = readFileSync(variablesFile, "utf8").split("\0").slice(0, -1);
    this.#variables = Object.fromEntries(variables.map((each) => each.split(/=(.*)/s) as [string, string]));
    return { code, ...(output.startsWith("HTTP/") ? parseAnswer(output) : { head: "", body: output }) };
  }

  #environment(): Record<string, string> {
    const { PATH = "" } = process.env;
    return { PATH, DATABASE_URL: this.#workspaces.at(-1)!.databaseUrl, ...this.#variables };
  }

  /** Starts the server, and again when the settings have changed since. */
  async #serve(): Promise<void> {
    const settings = Object.entries(this.#environment()).filter(([name]) => /^(PORTICO_|SMTP_)/.test(name));
    if (this.#server && this.#settings === JSON.stringify(settings)) return;
    await this.#stop();
    this.#settings = JSON.stringify(settings);
    const options = { cwd: this.#folder, env: Object.fromEntries(settings) };
    this.#server = await Portico.start(this.#workspaces.at(-1)!, options);
    if (this.#server.key !== "") this.#variables = { ...this.#variables, KEY: this.#server.key };
  }

  /** Fills in the form that the link of an invitation leads to. */
  async #acceptInvitation(name: string, password: string): Promise<void> {
    const browser = new Browser();
    const page = await browser.open(this.#variables.LINK!);
    const answer = await browser.submit(page, { name, password });
    assert.match(answer.text, /Your account is ready/);
  }

  /** Signs a user in and lets them connect the device, as the pages of a browser would. */
  async #connectDevice(email: string, password: string): Promise<void> {
    const browser = new Browser();
    let page = await browser.open(this.#verificationUrl!);
    const code = new URL(this.#verificationUrl!).searchParams.get("user_code")!;
    page = await browser.submit(page, { user_code: code });
    page = await browser.submit(page, { confirm: "yes" });
    page = await browser.submit(page, { email, password, choice: "sign-in" });
    page = await browser.submit(page, { choice: "allow" });
    assert.match(page.text, /Your device is connected/);
  }
}

/** Whether a file belongs to a project, other than what a server that ran there has left. */
function isDeclared(path: string): boolean {
  return !path.endsWith("/data");
}

interface HttpAnswer {
  readonly status?: number;
  readonly head: string;
  readonly body: string;
}
type RealAnswer = HttpAnswer & { readonly code: number | null };

function parseAnswer(text: string): HttpAnswer {
  const [head = "", ...rest] = text.replaceAll("\r", "").split("\n\n");
  if (/^HTTP\S+ 100/.test(head)) return parseAnswer(rest.join("\n\n"));
  return { status: Number(head.split(" ")[1]), head: head.trimEnd(), body: rest.join("\n\n") };
}

/** The expected status: the one shown, else that of the error code shown, else 201 after a creation, else 200. */
function statusOf({ status, body }: HttpAnswer, command: string): number {
  if (status !== undefined) return status;
  const code: keyof typeof catalogue | undefined = JSON.parse(body).error?.code;
  if (code) return catalogue[code][0];
  return / -[dF] /.test(command) && !/ -X |\/(?:graphql|mcp) /.test(command) ? 201 : 200;
}
