// The pages of the device flow, on which a user connects a device with limited input (RFC 8628).

import { type Html, html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { page } from "./layout.ts";
import { alertHtml } from "./plain-pages.ts";

export interface CodeEntry {
  readonly csrf: string;
  readonly code: string;
  readonly error: string | undefined;
}

export function codePage(issuer: Issuer, { csrf, code, error }: CodeEntry): string {
  const body = html`<h1>Connect a device</h1>
${alertHtml(error)}
<form method="post" action="${issuer.path}/device">
${hidden(csrf)}
<label>Code shown on your device
<input class="code" type="text" name="user_code" value="${code}" autocomplete="off" autocapitalize="characters" spellcheck="false" required maxlength="20"></label>
<button type="submit">Continue</button>
</form>`;
  return page(issuer, "Connect a device", body);
}

export interface CodeConfirmation {
  readonly csrf: string;
  readonly code: string;
  readonly clientName: string;
}

export function confirmPage(issuer: Issuer, { csrf, code, clientName }: CodeConfirmation): string {
  const body = html`<h1>Connect ${clientName}?</h1>
<p>Check that your device shows this code:</p>
<p class="code">${code}</p>
<p>Continue only if you started this yourself and the device is in front of you.</p>
<form method="post" action="${issuer.path}/device">
${hidden(csrf)}
<input type="hidden" name="user_code" value="${code}">
<button type="submit" name="confirm" value="yes">The codes match</button>
<button class="other" type="submit" name="abort" value="yes">Cancel</button>
</form>`;
  return page(issuer, "Connect a device", body);
}

export function connectedPage(issuer: Issuer, clientName: string): string {
  const body = html`<h1>Your device is connected</h1>
<p>${clientName} continues on the device. You can close this page.</p>`;
  return page(issuer, "Connected", body);
}

/** The token with which oidc-provider detects forged forms. */
function hidden(csrf: string): Html {
  return html`<input type="hidden" name="xsrf" value="${csrf}">`;
}
