// The output of `portico dev`: lines for people, or with `--json` one object per line.

import { relative } from "node:path";
import { styleText } from "node:util";
import type { Faulty, Serving } from "./messages.ts";

export class ProgressOutput {
  readonly #folder: string;
  readonly #isJson: boolean;

  constructor(folder: string, isJson: boolean) {
    this.#folder = folder;
    this.#isJson = isJson;
  }

  started({ url, key, greeting, name, changes }: Serving, watched: number): void {
    if (this.#isJson) return void this.#print({ url, key, changes });
    const running = `${name} is running at ${url}, in sandbox mode.`;
    this.#print([...(greeting === "" ? [running] : [greeting.trimEnd(), ""]), ...changes.map(indented)]);
    this.#print([`Watching ${watched} files. A change restarts the server; Ctrl+C stops it.`]);
  }

  restarted(files: readonly string[], { url, key, greeting, changes }: Serving, ms: number): void {
    const milliseconds = Math.round(ms);
    const changed = this.#names(files);
    if (this.#isJson)
      return void this.#print({ event: "restarted", changed, changes, milliseconds, url, key });
    this.#print([
      ...this.#heading(files),
      ...changes.map(indented),
      ...(greeting === "" ? [] : [greeting.trimEnd(), ""]),
      styleText("green", `Restarted in ${milliseconds} ms.`),
    ]);
  }

  /** @param isServed whether the previous version is still served */
  faulty(files: readonly string[], { message }: Faulty, isServed: boolean): void {
    if (this.#isJson)
      return void this.#print({ event: "faulty", changed: this.#names(files), message, isServed });
    this.#print([
      ...this.#heading(files),
      ...message.split("\n").map((line) => styleText("red", indented(line))),
      isServed ? "The last good version is still served. Save a fix to restart." : "Save a fix to start.",
    ]);
  }

  /** @param code why: `code 1` or `SIGKILL` */
  ended(code: string, isRestarting: boolean): void {
    if (this.#isJson) return void this.#print({ event: "ended", code, isRestarting });
    const next = isRestarting ? "It is started again." : "Save a change to start it again.";
    this.#print([styleText("red", `The server ended with ${code}. ${next}`)]);
  }

  #heading(files: readonly string[]): string[] {
    const names = this.#names(files);
    return names.length === 0 ? [] : [`${names.join(", ")} changed`];
  }

  #names(files: readonly string[]): string[] {
    return files.map((file) => relative(this.#folder, file));
  }

  #print(output: readonly string[] | object): void {
    const text = Array.isArray(output) ? output.join("\n") : JSON.stringify(output);
    process.stdout.write(`${text}\n`);
  }
}

function indented(line: string): string {
  return `  ${line}`;
}
