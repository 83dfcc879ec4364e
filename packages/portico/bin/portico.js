#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=32768 node --max-semi-space-size=8 --heap-growing-percent=20
// Starts the command line. Node keeps the stripped and compiled modules, so that later starts are faster and smaller. A
// server under load should not grow for nothing:
// - Each half of the young generation has 8 MB at most. With 4 MB a server takes 10 MB less, but collects so often that
//   its requests take about a third more CPU time, most of it in V8's helper threads.
// - The old generation is collected when it has grown by a fifth, instead of when it has doubled.
// - malloc (glibc's; others pass the names over) has one arena, and returns blocks of 32 KiB to the system at once, above
//   all those of V8's compilers.
// Maglev stays on: without it, hot functions wait for TurboFan, whose threads take a quarter more CPU time in all.

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
