// oidc-provider 9.13 drops the scope `offline_access` silently unless the request has `prompt=consent` (OpenID Connect
// Core, section 11), so the application gets no refresh token and no error. Portico adds `consent` to the prompt of such a
// request, unless it forbids pages with `prompt=none`.

/** @returns whether the parameters were changed */
export function promptForOfflineAccess(parameters: URLSearchParams): boolean {
  const isOffline = parameters.get("scope")?.split(" ").includes("offline_access") ?? false;
  const prompts = (parameters.get("prompt") ?? "").split(" ").filter((prompt) => prompt !== "");
  if (!isOffline || prompts.includes("consent") || prompts.includes("none")) return false;
  parameters.set("prompt", [...prompts, "consent"].join(" "));
  return true;
}
