// Loads oidc-provider when the server needs it: the commands start without it.

export type Library = typeof import("oidc-provider");

/** It takes each Node that does not call itself LTS for an unsupported one, and would say so at every start. */
export async function loadLibrary(): Promise<Library> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await import("oidc-provider");
  } finally {
    console.warn = warn;
  }
}
