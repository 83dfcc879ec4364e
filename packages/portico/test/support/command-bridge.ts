// Lets a shell run commands of Portico inside the test's process, which takes a tenth of the time.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { portico, program } from "./server.ts";

export class CommandBridge {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<CommandBridge> {
    const server = createServer(async (request, response) => {
      const [environment, words] = parse((await buffer(request)).toString());
      const { code, stdout, stderr } = await portico({ databaseUrl: environment["DATABASE_URL"]! }, words, {
        env: environment,
        cwd: environment["PWD"]!,
      });
      response.end(`${code}\n${stdout}${stderr}`);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new CommandBridge(server);
  }

  /**
   * A function of bash that replaces npx: `npx portico key list`, `npx node tasks.ts`. What serves, writes into the folder, or reads or
   * writes standard streams itself, is a process.
   */
  get shellFunction(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `npx() {
      local name=$1
      shift
      if [ "$name" = node ]; then "${process.execPath}" "$@"; return; fi
      case " $* " in *" serve "* | *" --out "* | *" import "* | *" export "*) "${process.execPath}" "${program}" "$@"; return ;; esac
      local reply
      reply=$({ env --null; printf '\\0'; printf '%s\\0' "$@"; } |
        command curl --silent --data-binary @- --header 'Content-Type: text/plain' http://127.0.0.1:${port}/)
      printf '%s\\n' "\${reply#*$'\\n'}"
      return "\${reply%%$'\\n'*}"
    }`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}

/** Variables, an empty entry and the words of a command, each ended by a NUL. */
function parse(text: string): [Record<string, string>, string[]] {
  const entries = text.split("\0").slice(0, -1);
  const end = entries.indexOf("");
  const variables = entries.slice(0, end).map((entry) => entry.split(/=(.*)/s) as [string, string]);
  return [Object.fromEntries(variables), entries.slice(end + 1)];
}
