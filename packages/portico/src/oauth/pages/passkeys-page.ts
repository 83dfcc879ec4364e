// The page /passkeys: a user's passkeys, with forms to add and remove them.

import { html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { type AccountHeader, accountPage } from "./account-page.ts";
import { passkeyForm } from "./passkey-form.ts";
import { alertHtml } from "./plain-pages.ts";

export interface ShownPasskeys {
  readonly csrf: string;
  readonly passkeys: readonly {
    readonly id: string;
    readonly name: string;
    readonly createdAt: string;
    readonly lastUsedAt: string | null;
  }[];
  /** The options for creating another passkey; undefined if no more can be added. */
  readonly creation: { readonly challengeToken: string; readonly options: object } | undefined;
  readonly error: string | undefined;
}

export function passkeysPage(
  issuer: Issuer,
  user: AccountHeader,
  { csrf, passkeys, creation, error }: ShownPasskeys,
): string {
  const listed = passkeys.map(({ id, name, createdAt, lastUsedAt }) => {
    const used = lastUsedAt === null ? "not used yet" : `last used ${lastUsedAt.slice(0, 10)}`;
    return html`<section>
<h2>${name}</h2>
<p>Added ${createdAt.slice(0, 10)}, ${used}.</p>
<form method="post" action="${issuer.path}/passkeys">
<input type="hidden" name="csrf" value="${csrf}">
<button class="other" type="submit" name="remove" value="${id}">Remove ${name}</button>
</form>
</section>
`;
  });
  const add =
    creation &&
    passkeyForm(issuer, {
      ...creation,
      kind: "create",
      csrf,
      action: `${issuer.path}/passkeys`,
      label: "Add a passkey",
      fields: html`<label>Name of the passkey
<input type="text" name="name" value="My passkey" required maxlength="100"></label>`,
    });
  const body = html`<p>With a passkey you sign in with your fingerprint, face or PIN instead of a password.</p>
${alertHtml(error)}
${listed}${add}`;
  return accountPage(issuer, "Passkeys", user, body);
}
