// What the tarball of create-portico holds besides its compiled sources: the templates, and the tracker as one of them.

import { cpSync } from "node:fs";
import { join, resolve } from "node:path";

const project = resolve(import.meta.dirname, "../..");
/** What a server that ran in the example has left, and the page about it. */
const ownFiles = /\/(?:data|README\.md)$/;

export function complete(built: string): void {
  const templates = join(built, "templates");
  cpSync(join(project, "packages/create-portico/templates"), templates, { recursive: true });
  cpSync(join(project, "examples/tracker"), join(templates, "tracker"), {
    recursive: true,
    filter: (path) => !ownFiles.test(path),
  });
}
