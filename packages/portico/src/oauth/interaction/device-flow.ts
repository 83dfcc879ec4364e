// The device flow (RFC 8628): its pages, and what the library leaves out of it.

import type { Configuration, KoaContextWithOIDC } from "oidc-provider";
import type { BruteForceLimits } from "../endpoints/brute-force-limits.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { codePage, confirmPage, connectedPage } from "../pages/device-pages.ts";
import { addressOf } from "../provider/mounted-request.ts";

/** Seconds that a device waits between two polls; the library does not say it. */
export const pollInterval = 5;

/** A request that came with the code in its address, as a device shows it in a picture to be scanned. */
export interface WithUserCode {
  readonly presentedCode?: string;
}

type DeviceFlow = NonNullable<NonNullable<Configuration["features"]>["deviceFlow"]>;

export function deviceFlow(issuer: Issuer, bruteForce: BruteForceLimits): DeviceFlow {
  return {
    enabled: true,
    charset: "base-20",
    mask: "****-****",
    userCodeInputSource: async (context, _form, out, error) => {
      const code = userCodeOf(error) ?? (context.req as WithUserCode).presentedCode ?? "";
      const errorMessage = error || out ? errorMessageOf(error) : undefined;
      sendPage(context, codePage(issuer, { csrf: csrfOf(context), code, error: errorMessage }));
    },
    userCodeConfirmSource: async (context, _form, client, _device, code) => {
      await bruteForce.refundCode(addressOf(context.req));
      const clientName = client.clientName ?? client.clientId;
      sendPage(context, confirmPage(issuer, { csrf: csrfOf(context), code, clientName }));
    },
    successSource: async (context) => {
      await bruteForce.refundCode(addressOf(context.req));
      sendPage(context, connectedPage(issuer, context.oidc.client?.clientName ?? "The application"));
    },
  };
}

function csrfOf({ oidc }: KoaContextWithOIDC): string {
  const state = oidc.session?.["state"] as { readonly secret?: string } | undefined;
  return state?.secret ?? "";
}

function userCodeOf(error: unknown): string | undefined {
  return error instanceof Error && "userCode" in error ? String(error.userCode) : undefined;
}

function errorMessageOf(error: unknown): string {
  const name = error instanceof Error ? error.name : "";
  if (name === "AbortedError") return "The device was not connected.";
  if (name === "ExpiredError") return "This code has expired. Start again on the device.";
  if (name === "AlreadyUsedError") return "This code has been used. Start again on the device.";
  if (["NotFoundError", "NoCodeError"].includes(name))
    return "There is no such code. Look again and try once more.";
  return "This did not work. Start again on the device.";
}

function sendPage(context: KoaContextWithOIDC, page: string): void {
  context.type = "html";
  context.body = page;
}
