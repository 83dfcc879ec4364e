import type { KoaContextWithOIDC } from "oidc-provider";

/** The part of a Koa context that patches of responses read and write, after oidc-provider has responded. */
export type Answer = Pick<KoaContextWithOIDC, "path" | "status" | "body" | "response" | "set">;

/** Changes a response of oidc-provider in place. */
export type PatchAnswer = (answer: Answer) => void;

/** A response of oidc-provider that reports an error (RFC 6749, section 5.2). */
export interface ErrorBody {
  error: string;
  error_description?: string;
}

export function errorBodyOf(body: unknown): ErrorBody | undefined {
  const isErrorBody = typeof body === "object" && body !== null && "error" in body;
  return isErrorBody ? (body as ErrorBody) : undefined;
}
