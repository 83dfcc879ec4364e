#!/usr/bin/env node
// Starts the command. It may run on an old Node, so this file has no newer syntax.

const neededNode = 20;

if (Number.parseInt(process.versions.node, 10) < neededNode) {
  process.stderr.write(
    `create-portico: this is Node ${process.versions.node}; it needs Node ${neededNode} or later\n`,
  );
  process.exit(1);
}
const { main } = await import("../src/cli.ts");
await main(process.argv.slice(2));
