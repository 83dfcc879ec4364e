// oidc-provider 9.13 writes "Unsupported runtime" to the console as it is loaded on a Node release that is not (yet)
// an LTS release: `process.release.lts` is undefined on Node 26. Portico is tested on the Node release that it
// requires, so the console is silent while the library is loaded.

/** Loads a module while `console.warn` does nothing. */
export async function withoutRuntimeWarning<Module>(load: () => Promise<Module>): Promise<Module> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await load();
  } finally {
    console.warn = warn;
  }
}
