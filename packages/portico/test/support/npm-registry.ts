// A registry of npm packages on loopback: given tarballs, and the packages of this repository's node_modules, so that npm
// installs Portico as from the public registry and downloads nothing.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, globSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { createGunzip } from "node:zlib";
import { projectFolder } from "./server.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** One version of a package: a tarball, or the folder of an installed package. */
interface Published {
  readonly manifest: Manifest;
  readonly path: string;
  readonly isFolder: boolean;
}

/** What an installed package has besides what was published, and what of a large package no test needs. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  // Its install script links the program of the package for the platform.
  node: ["bin"],
  [`node-${process.platform}-${process.arch}`]: ["include", "share"],
};

export class NpmRegistry {
  /** The names of packages that were asked for and are not there. */
  readonly missing: string[] = [];
  readonly #versions = new Map<string, Map<string, Published>>();
  readonly #server: Server;

  private constructor() {
    // handled: npm fails for a package that it needs.
    this.#server = createServer((request, response) => void this.#answer(request, response).catch(() => {}));
  }

  /** @param tarballs the paths of packages that are published */
  static async start(tarballs: readonly string[]): Promise<NpmRegistry> {
    const registry = new NpmRegistry();
    for (const path of tarballs)
      registry.#publish({ manifest: await manifestIn(path), path, isFolder: false });
    for (const path of installedFolders()) {
      const manifest: Manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
      registry.#publish({ manifest, path, isFolder: true });
    }
    registry.#server.listen(0, "127.0.0.1");
    await once(registry.#server, "listening");
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** The first one counts: a tarball is preferred to what is installed. */
  #publish(published: Published): void {
    const { name, version } = published.manifest;
    const versions = this.#versions.get(name) ?? new Map<string, Published>();
    if (!versions.has(version)) versions.set(version, published);
    this.#versions.set(name, versions);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [name = "", file] = decodeURIComponent(request.url!.slice(1)).split("/-/");
    const versions = this.#versions.get(name);
    if (versions === undefined) {
      this.missing.push(name);
      response.writeHead(404).end("{}");
      return;
    }
    if (file === undefined) {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(this.#packument(name, versions)));
      return;
    }
    const published = versions.get(file.slice(0, -".tgz".length));
    if (published === undefined) response.writeHead(404).end();
    else if (published.isFolder) await sendFolder(published, response);
    else createReadStream(published.path).pipe(response);
  }

  /** The document about all versions of a package. */
  #packument(name: string, published: ReadonlyMap<string, Published>): object {
    const versions = [...published.values()].map(({ manifest }) => {
      const { scripts = {}, version } = manifest;
      const hasInstallScript = ["preinstall", "install", "postinstall"].some((script) => script in scripts);
      return [
        version,
        { ...manifest, hasInstallScript, dist: { tarball: `${this.url}/${name}/-/${version}.tgz` } },
      ] as const;
    });
    return { name, "dist-tags": { latest: versions[0]![0] }, versions: Object.fromEntries(versions) };
  }
}

/** The folders of packages that are installed in this repository: those of the lock file, and Node's for this platform. */
function installedFolders(): string[] {
  const locked: Readonly<Record<string, { readonly link?: boolean }>> = JSON.parse(
    readFileSync(join(projectFolder, "package-lock.json"), "utf8"),
  ).packages;
  const paths = Object.keys(locked).filter((path) => path.includes("node_modules/") && !locked[path]!.link);
  const ofNode = globSync("node_modules/node/node_modules/*", { cwd: projectFolder });
  // Those nearest to the root are the ones that most packages need, and become `latest`.
  return [...paths, ...ofNode]
    .sort((one, other) => one.split("node_modules/").length - other.split("node_modules/").length)
    .map((path) => join(projectFolder, path))
    .filter((path) => existsSync(join(path, "package.json")));
}

/** Sends a folder as a tarball. npm removes the first folder of its paths, whatever the name. */
async function sendFolder({ manifest, path }: Published, response: ServerResponse): Promise<void> {
  const folder = basename(path);
  const excluded = ["node_modules", ...(leftOut[manifest.name] ?? [])].map(
    (name) => `--exclude=${folder}/${name}`,
  );
  const tar = spawn("tar", ["-cf", "-", ...excluded, "-C", dirname(path), folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  tar.stdout.pipe(response);
  await once(tar, "close");
}

/** The `package.json` of a tarball. */
async function manifestIn(tarball: string): Promise<Manifest> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(tarball).pipe(createGunzip())) chunks.push(chunk);
  const tar = Buffer.concat(chunks);
  // A tar file consists of blocks of 512 bytes: for each file a header, with its name and its size in octal, and its content.
  for (let header = 0; tar[header] !== 0; ) {
    const name = tar.toString("utf8", header, tar.indexOf(0, header));
    const size = Number.parseInt(tar.toString("utf8", header + 124, header + 136), 8);
    if (name === "package/package.json")
      return JSON.parse(tar.toString("utf8", header + 512, header + 512 + size));
    header += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error(`${tarball} has no package.json`);
}
