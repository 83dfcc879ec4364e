// The form that creates or uses a passkey. It is the only part of the pages with a script, and hidden without it.

import { hash } from "node:crypto";
import { type Html, html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";

export interface PasskeyForm {
  readonly kind: "create" | "get";
  readonly csrf: string;
  readonly challengeToken: string;
  /** The options for `navigator.credentials`, with bytes in base64url. */
  readonly options: object;
  readonly action: string;
  readonly label: string;
  /** Further fields. */
  readonly fields?: Html;
}

export function passkeyForm(
  issuer: Issuer,
  { kind, csrf, challengeToken, options, action, label, fields }: PasskeyForm,
): Html {
  return html`<form method="post" action="${action}" data-passkey="${kind}" data-options="${JSON.stringify(options)}" hidden>
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="challenge_token" value="${challengeToken}">
<input type="hidden" name="choice" value="passkey">
<input type="hidden" name="credential" value="">
${fields}
<p class="error" role="alert" hidden>That did not work. Try again.</p>
<button class="other" type="submit">${label}</button>
</form>
<script src="${issuer.path}${scriptPath}?v=${version}"></script>`;
}

export const scriptPath = "/passkey.js";

/** Calls `navigator.credentials`, writes the result into the form and submits it. */
export const passkeyScript = `"use strict";
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
const decoded = (credentials) => (credentials || []).map((each) => ({ ...each, id: bytes(each.id) }));

async function credentialFor(kind, options) {
  const challenge = bytes(options.challenge);
  if (kind === "get") {
    const publicKey = { ...options, challenge, allowCredentials: decoded(options.allowCredentials) };
    return navigator.credentials.get({ publicKey });
  }
  const user = { ...options.user, id: bytes(options.user.id) };
  const publicKey = { ...options, challenge, user, excludeCredentials: decoded(options.excludeCredentials) };
  return navigator.credentials.create({ publicKey });
}

function serialized({ id, rawId, type, response }) {
  const members = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const values = members.filter((name) => response[name]).map((name) => [name, text(response[name])]);
  return { id, rawId: text(rawId), type, clientExtensionResults: {}, response: Object.fromEntries(values) };
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [error, button] = [form.querySelector("[role=alert]"), form.querySelector("button")];
    error.hidden = button.disabled = true;
    try {
      const credential = await credentialFor(form.dataset.passkey, JSON.parse(form.dataset.options));
      form.elements.credential.value = JSON.stringify(serialized(credential));
      form.submit();
    } catch {
      error.hidden = button.disabled = false;
    }
  });
}
`;

/** Part of the script's URL, so that browsers can cache it for good. */
const version = hash("sha256", passkeyScript, "base64url").slice(0, 16);
