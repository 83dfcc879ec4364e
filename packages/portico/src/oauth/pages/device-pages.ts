// The pages on which a person connects a device that has no keyboard to speak of.

import type { Issuer } from "../endpoints/issuer.ts";
import { type Html, html, page } from "./layout.ts";
import { errorMessage as faultHtml } from "./plain-pages.ts";

export interface CodeEntry {
  readonly csrf: string;
  readonly code: string;
  readonly error: string | undefined;
}

export function codePage(issuer: Issuer, { csrf, code, error }: CodeEntry): string {
  const body = html`<h1>Connect a device</h1>
${faultHtml(error)}
<form method="post" action="${issuer.path}/device">
${hidden(csrf)}
<label>The code that your device shows
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
<p>Your device must show exactly this code:</p>
<p class="code">${code}</p>
<p>Go on only if you have the device in front of you and have started this yourself.</p>
<form method="post" action="${issuer.path}/device">
${hidden(csrf)}
<input type="hidden" name="user_code" value="${code}">
<button type="submit" name="confirm" value="yes">It shows this code</button>
<button class="other" type="submit" name="abort" value="yes">Cancel</button>
</form>`;
  return page(issuer, "Connect a device", body);
}

export function connectedPage(issuer: Issuer, clientName: string): string {
  const body = html`<h1>Your device is connected</h1>
<p>${clientName} goes on by itself. You can close this page.</p>`;
  return page(issuer, "Connected", body);
}

/** The library's own token against forged forms. */
function hidden(csrf: string): Html {
  return html`<input type="hidden" name="xsrf" value="${csrf}">`;
}
