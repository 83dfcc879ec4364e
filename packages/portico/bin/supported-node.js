// Throws on a version of Node that Portico does not run on. Imported before everything else, also by older versions: so it
// is JavaScript that these understand.

import { readFileSync } from "node:fs";

const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const needed = Number.parseInt(engines.node.replace(">=", ""), 10);

if (Number.parseInt(process.versions.node, 10) < needed)
  throw new Error(`this is Node ${process.versions.node}; Portico needs Node ${needed} or later`);
