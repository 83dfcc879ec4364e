#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=32768 node --max-semi-space-size=8 --heap-growing-percent=20
// Starts the command line. Node keeps the stripped and compiled modules, so that later starts are faster and
// smaller. A server under load should not grow for nothing: the young generation is small, the old one grows by a fifth
// at most before it is swept, and malloc (glibc's; others pass the names over) has one arena and returns blocks of 32 KiB
// to the system at once, above all those of V8's compilers.

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
