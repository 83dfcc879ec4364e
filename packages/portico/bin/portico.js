#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=8 --heap-growing-percent=20 --no-maglev
// Starts the command line. Node keeps the stripped and compiled modules, so that later starts are faster and
// smaller; the small young generation, the old one that grows by a fifth at most before it is swept, one compiler of hot
// functions instead of two, and one arena of malloc (glibc's; others pass the name over) keep a server under load from
// growing for nothing.

import module from "node:module";

const neededNode = 26;

if (Number.parseInt(process.versions.node, 10) < neededNode) {
  process.stderr.write(
    `portico: this is Node ${process.versions.node}; it needs Node ${neededNode} or later\n`,
  );
  process.exit(1);
}
module.enableCompileCache();
await import("../src/cli/portico.ts");
