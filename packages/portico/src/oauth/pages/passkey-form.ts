// The form with which a passkey is made or used: the one thing on the pages that takes a script, and hidden without.

import { hash } from "node:crypto";
import type { Issuer } from "../endpoints/issuer.ts";
import { type Html, html } from "./layout.ts";

export interface PasskeyForm {
  readonly kind: "create" | "get";
  readonly csrf: string;
  readonly challengeToken: string;
  /** What the browser is asked, as JSON, with bytes in base64url. */
  readonly options: object;
  readonly action: string;
  readonly label: string;
  /** Other fields. */
  readonly before?: Html;
}

export function passkeyForm(
  issuer: Issuer,
  { kind, csrf, challengeToken, options, action, label, before }: PasskeyForm,
): Html {
  return html`<form method="post" action="${action}" data-passkey="${kind}" data-options="${JSON.stringify(options)}" hidden>
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="slip" value="${challengeToken}">
<input type="hidden" name="choice" value="passkey">
<input type="hidden" name="credential" value="">
${before}
<p class="wrong" role="alert" hidden>That did not work. Try again.</p>
<button class="other" type="submit">${label}</button>
</form>
<script src="${issuer.path}${scriptPath}?v=${version}"></script>`;
}

export const scriptPath = "/passkey.js";

/** Asks the browser, writes its answer into the form, and sends that. */
export const passkeyScript = `"use strict";
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
const listed = (credentials) => (credentials || []).map((each) => ({ ...each, id: bytes(each.id) }));

async function ask(kind, options) {
  const challenge = bytes(options.challenge);
  if (kind === "get") {
    const publicKey = { ...options, challenge, allowCredentials: listed(options.allowCredentials) };
    return navigator.credentials.get({ publicKey });
  }
  const user = { ...options.user, id: bytes(options.user.id) };
  const publicKey = { ...options, challenge, user, excludeCredentials: listed(options.excludeCredentials) };
  return navigator.credentials.create({ publicKey });
}

function written({ id, rawId, type, response }) {
  const members = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const kept = members.filter((name) => response[name]).map((name) => [name, text(response[name])]);
  return { id, rawId: text(rawId), type, clientExtensionResults: {}, response: Object.fromEntries(kept) };
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [wrong, button] = [form.querySelector("[role=alert]"), form.querySelector("button")];
    wrong.hidden = button.disabled = true;
    try {
      const credential = await ask(form.dataset.passkey, JSON.parse(form.dataset.options));
      form.elements.credential.value = JSON.stringify(written(credential));
      form.submit();
    } catch {
      wrong.hidden = button.disabled = false;
    }
  });
}
`;

/** Another script has another address, so that browsers may keep each for good. */
const version = hash("sha256", passkeyScript, "base64url").slice(0, 16);
