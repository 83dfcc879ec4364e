// oidc-provider 9.13 passes the forms of the device pages as finished HTML, without labels and buttons. Portico renders
// its own (RFC 8628, section 3.3) and needs two values that the library does not pass: the token against forged forms,
// which it keeps in the session, and the code of an error.

import type { KoaContextWithOIDC } from "oidc-provider";

/** The token that the library expects in the field `xsrf` of the form. */
export function xsrfTokenOf({ oidc }: KoaContextWithOIDC): string {
  const state = oidc.session?.["state"] as { readonly secret?: string } | undefined;
  return state?.secret ?? "";
}

/** The code that the user entered, if the library reports an error about it. */
export function enteredCodeOf(error: unknown): string | undefined {
  return error instanceof Error && "userCode" in error ? String(error.userCode) : undefined;
}

/** A message for one of the library's errors of the device pages, which it does not export. */
export function deviceErrorMessage(error: unknown): string {
  const name = error instanceof Error ? error.name : "";
  if (name === "AbortedError") return "The device was not connected.";
  if (name === "ExpiredError") return "This code has expired. Start again on the device.";
  if (name === "AlreadyUsedError") return "This code was used already. Start again on the device.";
  if (["NotFoundError", "NoCodeError"].includes(name))
    return "No device shows this code. Check it and try again.";
  return "Something went wrong. Start again on the device.";
}
