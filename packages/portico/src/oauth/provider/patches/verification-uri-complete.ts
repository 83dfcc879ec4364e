// For a device page that is opened with `user_code` in its query (RFC 8628, section 3.3.1), oidc-provider 9.13 responds
// with a form that an inline script sends, which the Content-Security-Policy of the pages forbids. Portico removes the
// code from the query and fills it into the page, where the user compares it with the device before sending it.

import type { IncomingMessage } from "node:http";
import { routes } from "../routes.ts";

const maxCodeLength = 20;

interface RequestWithUserCode extends IncomingMessage {
  readonly presentedCode?: string;
}

export interface TargetWithoutCode {
  readonly target: string;
  readonly presentedCode?: string | undefined;
}

/** @param target the path below the issuer, with the query */
export function withoutUserCode(target: string): TargetWithoutCode {
  if (!target.startsWith(`${routes.code_verification}?`)) return { target };
  const userCode = new URLSearchParams(target.slice(target.indexOf("?"))).get("user_code");
  return { target: routes.code_verification, presentedCode: userCode?.slice(0, maxCodeLength) };
}

/** Keeps the code with the request that oidc-provider handles. */
export function withPresentedCode(
  request: IncomingMessage,
  presentedCode: string | undefined,
): RequestWithUserCode {
  return presentedCode === undefined ? request : Object.assign(request, { presentedCode });
}

export function presentedCodeOf(request: IncomingMessage): string | undefined {
  return (request as RequestWithUserCode).presentedCode;
}
