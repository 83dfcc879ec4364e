// A TCP proxy that can fail as networks and starting servers do.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export class FailingProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  readonly #held: Socket[] = [];
  #isSilent = false;
  /** The response to new connections, instead of forwarding them. */
  #refusal: Buffer | undefined;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  static async start(target: number): Promise<FailingProxy> {
    const proxy = new FailingProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Stops forwarding but keeps every connection open, like a network that drops packets. */
  silence(): void {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Forwards again, starting with the bytes it held back. */
  resume(): void {
    this.#isSilent = false;
    for (const socket of this.#sockets) socket.resume();
    for (const client of this.#held.splice(0)) this.#accept(client);
  }

  /** Answers new connections that the server is starting (57P03), and closes the existing ones. */
  pretendToStart(): void {
    const fields = "SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0";
    const length = Buffer.alloc(4);
    length.writeInt32BE(4 + fields.length);
    this.#refusal = Buffer.concat([Buffer.from("E"), length, Buffer.from(fields)]);
    for (const socket of this.#sockets) socket.destroy();
  }

  pretendToHaveStarted(): void {
    this.#refusal = undefined;
  }

  async close(): Promise<void> {
    for (const socket of [...this.#sockets, ...this.#held]) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    client.on("error", () => {});
    if (this.#isSilent) return void this.#held.push(client);
    if (this.#refusal) return void client.resume().end(this.#refusal);
    const server = connect(this.#target, "127.0.0.1");
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on("data", (data) => to.write(data));
      from.on("end", () => to.end());
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
