// Routes of the API that are open to requests without a credential, because they read what declarations make public.

import type { FastifyReply } from "fastify";
import type { PresentedHeaders } from "../../lib/presented-headers.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route reads what is public. */
    isPublic?: boolean;
  }
}

/** Whether a request presents a credential, valid or not. An invalid one is never treated as none. */
export function presentsCredential({ headers }: PresentedHeaders): boolean {
  return headers.authorization !== undefined || headers["x-api-key"] !== undefined;
}

const credentialHeaders = "Authorization, X-API-Key";

/** The response depends on the credential, so no cache may share it among callers (RFC 9111, section 5.2.2.7). */
export function forbidSharedCaching(reply: FastifyReply): void {
  const vary = reply.getHeader("Vary");
  reply.header("Vary", vary === undefined ? credentialHeaders : `${vary}, ${credentialHeaders}`);
  reply.header("Cache-Control", "private, no-cache");
}
