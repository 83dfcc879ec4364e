// Lets a generator that npm installs beside TypeScript 7, which has no JavaScript API, load the version of this folder.
// Use it with `node --import`.

import { registerHooks } from "node:module";

const typescript = import.meta.resolve("typescript");

registerHooks({
  resolve: (specifier, context, next) => next(specifier === "typescript" ? typescript : specifier, context),
});
