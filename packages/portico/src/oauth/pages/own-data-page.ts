// The page /account: a person's name, email address and further fields, with forms to change them.

import { type Html, html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { type AccountHeader, accountPage } from "./account-page.ts";
import { attributeControl, type EditedValue } from "./attribute-control.ts";
import { alertHtml } from "./plain-pages.ts";

export interface OwnData extends AccountHeader {
  readonly name: string;
  readonly isEmailVerified: boolean;
}

export interface ShownAccount {
  readonly csrf: string;
  /** The fields that the app adds. */
  readonly values: readonly EditedValue[];
  /** What has just been done. */
  readonly done: "sent" | "changed" | "saved" | undefined;
  readonly error?: string | undefined;
}

const messages = {
  sent: "We have sent you an email with a link. The link works for 24 hours.",
  changed: "We have sent an email to the new address. Your address changes once you follow its link.",
  saved: "Your changes were saved.",
} as const;

export function ownDataPage(
  issuer: Issuer,
  user: OwnData,
  { csrf, values, done, error }: ShownAccount,
): string {
  const form = (change: string, fields: Html): Html => html`<section>
<form method="post" action="${issuer.path}/account">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="change" value="${change}">
${fields}
</form>
</section>
`;
  const confirm = html`<p>Your address is not confirmed yet.</p>
${form("confirm", html`<button type="submit">Send a confirmation email</button>`)}`;
  const confirmation = user.isEmailVerified ? html`<p>Your address is confirmed.</p>` : confirm;
  const body = html`${alertHtml(error)}
${done && html`<p role="status">${messages[done]}</p>`}
${done === "sent" ? undefined : confirmation}
${form(
  "name",
  html`<label>Name
<input type="text" name="name" value="${user.name}" autocomplete="name" required maxlength="200"></label>
<button class="other" type="submit">Change your name</button>`,
)}
${
  values.length > 0
    ? form(
        "details",
        html`${values.flatMap((each) => attributeControl(each) ?? [])}<button class="other" type="submit">Change your details</button>`,
      )
    : undefined
}
${form(
  "email",
  html`<label>New email address
<input type="email" name="email" autocomplete="email" required maxlength="254"></label>
<button class="other" type="submit">Change your email address</button>`,
)}`;
  return accountPage(issuer, "Your account", user, body);
}
