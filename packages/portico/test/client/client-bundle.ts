// The client as one script, minified, as a bundler makes it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { minifySync, transformSync } from "@swc/core";

const folder = join(import.meta.dirname, "../../client");

/** An ES module that exports what the client exports, and imports nothing. */
export function clientBundle(): string {
  const { code } = minifySync(`${bundleOf("index.ts", new Set())}\nexport { createClient, PorticoError };`, {
    module: true,
    compress: { passes: 3 },
    mangle: { toplevel: true },
  });
  return code;
}

/** A module and what it imports, each once, as one script. Their names do not collide. */
function bundleOf(name: string, seen: Set<string>): string {
  if (seen.has(name)) return "";
  seen.add(name);
  const { code } = transformSync(readFileSync(join(folder, name), "utf8"), {
    jsc: { parser: { syntax: "typescript" }, target: "es2024" },
  });
  const imported = [...code.matchAll(/ from "\.\/([^"]+)"/g)].map(([, file]) => bundleOf(file!, seen));
  const own = code
    .replaceAll(/(?:im|ex)port \{[^}]*\} from "[^"]+";/g, "")
    .replaceAll(/\bexport (?=class|function|async|const)/g, "");
  return [...imported, own].join("\n");
}
