// Loaded with `node --import`: writes the URLs of all loaded modules to the file that LOADED_MODULES names.

import { appendFileSync } from "node:fs";
import module from "node:module";

module.registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(process.env.LOADED_MODULES, `${url}\n`);
    return nextLoad(url, context);
  },
});
