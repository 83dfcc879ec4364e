// Loaded with `node --import`: writes the URLs of all loaded modules to the file that LOADED_MODULES names, and at the end
// the names of the parts of Node that were loaded.

import { appendFileSync } from "node:fs";
import module from "node:module";

const list = (line) => appendFileSync(process.env.LOADED_MODULES, `${line}\n`);

module.registerHooks({
  load(url, context, nextLoad) {
    list(url);
    return nextLoad(url, context);
  },
});
process.on("exit", () => process.moduleLoadList.forEach(list));
