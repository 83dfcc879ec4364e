#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=8192 node --max-semi-space-size=8 --min-semi-space-size=8
// Starts the command line. Node keeps the stripped and compiled modules, so that later starts are faster and smaller. A
// server under load should not grow for nothing:
// - Each half of the young generation has 8 MB. With 4 MB a server takes 10 MB less, but collects so often that its requests
//   take about a third more CPU time, most of it in V8's helper threads.
// - The old generation is collected when it has grown by three tenths, instead of when it has doubled, and compacted more:
//   with `--optimize-for-size`, which would also shrink the young generation below the minimum above. With a growth of a
//   half, a server took up to 18 MB more on PostgreSQL.
// - New objects begin in the young generation (`--no-allocation-site-pretenuring`). Otherwise V8 decides during slow
//   requests, whose objects live for long, that those of later requests belong to the old generation: after a few slow
//   searches, every request took about two to three times as much CPU time, and this did not pass.
// - malloc (glibc's; others pass the names over) has one arena, and returns blocks of 8 KiB to the system at once, above
//   all those of V8's compilers. With 32 KiB a server takes 8 MB more, and as much CPU time.
// Options of the old generation are set once everything is loaded: V8 takes no compiled code that was made with other
// values, such as that of Node's own modules.
// The line above has at most 127 characters, because Linux before 5.1 ignores the rest.
// Maglev stays on: without it, hot functions wait for TurboFan, whose threads take a quarter more CPU time in all.

import module from "node:module";
import { setFlagsFromString } from "node:v8";

try {
  await import("./supported-node.js");
} catch (error) {
  process.stderr.write(`portico: ${error.message}\n`);
  process.exit(1);
}
module.enableCompileCache();
await import("../src/cli/portico.ts");
setFlagsFromString("--heap-growing-percent=30");
setFlagsFromString("--optimize-for-size");
setFlagsFromString("--no-allocation-site-pretenuring");
