import { withoutRuntimeWarning } from "./patches/runtime-warning.ts";

export type Library = typeof import("oidc-provider");

/** Loads oidc-provider when the authorization server starts: commands run without it. */
export function loadLibrary(): Promise<Library> {
  return withoutRuntimeWarning(() => import("oidc-provider"));
}
