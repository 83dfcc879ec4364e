// The pages of the device flow (RFC 8628, section 3.3), which oidc-provider asks for.

import type { Configuration } from "oidc-provider";
import type { BruteForceLimits } from "../endpoints/brute-force-limits.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { codePage, confirmPage, connectedPage } from "../pages/device-pages.ts";
import { setPage } from "../provider/page-response.ts";
import { deviceErrorMessage, enteredCodeOf, xsrfTokenOf } from "../provider/patches/device-forms.ts";
import { addressOf } from "../provider/patches/mounted-request.ts";
import { presentedCodeOf } from "../provider/patches/verification-uri-complete.ts";

type DeviceFlow = NonNullable<NonNullable<Configuration["features"]>["deviceFlow"]>;

export function deviceFlow(issuer: Issuer, bruteForce: BruteForceLimits): DeviceFlow {
  return {
    enabled: true,
    charset: "base-20",
    mask: "****-****",
    userCodeInputSource: async (context, _form, out, error) => {
      const csrf = xsrfTokenOf(context);
      const code = enteredCodeOf(error) ?? presentedCodeOf(context.req) ?? "";
      const message = error || out ? deviceErrorMessage(error) : undefined;
      setPage(context, codePage(issuer, { csrf, code, error: message }));
    },
    userCodeConfirmSource: async (context, _form, client, _device, code) => {
      await bruteForce.refundCode(addressOf(context.req));
      const clientName = client.clientName ?? client.clientId;
      setPage(context, confirmPage(issuer, { csrf: xsrfTokenOf(context), code, clientName }));
    },
    successSource: async (context) => {
      await bruteForce.refundCode(addressOf(context.req));
      setPage(context, connectedPage(issuer, context.oidc.client?.clientName ?? "The application"));
    },
  };
}
