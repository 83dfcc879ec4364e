import type { KoaContextWithOIDC } from "oidc-provider";

/** Responds with an HTML page from within oidc-provider. */
export function setPage(context: Pick<KoaContextWithOIDC, "type" | "body">, page: string): void {
  context.type = "html";
  context.body = page;
}
