// Pages around links that are sent by mail: one to choose another password, one to confirm an address. To look at a
// page uses nothing up, because programs that check mails look at every link; sending its form does.

import { Problem } from "../errors.ts";
import type { LinkPurpose } from "../identity/account-letters.ts";
import type { FoundLink } from "../identity/mailed-links.ts";
import { passwordFault } from "../identity/password.ts";
import type { Person } from "../identity/person.ts";
import { signedIn } from "./account.ts";
import {
  type Exchange,
  isFromElsewhere,
  type PageParts,
  seeOther,
  show,
  showRefusedForm,
  showTooMany,
  tooManyTries,
} from "./exchange.ts";
import { confirmEmailPage, emailConfirmedPage, emailPage } from "./pages/email-pages.ts";
import { forgottenPage, linkSentPage, newPasswordPage, passwordChangedPage } from "./pages/password-pages.ts";
import { errorPage } from "./pages/plain-pages.ts";
import { toldToWait, tryPassword } from "./password-try.ts";
import { isForged, showWaiting, waitingFor } from "./waiting.ts";

/** `/interaction/{id}/password`: somebody cannot sign in. The answer is the same whether there is such a person. */
export async function askForPassword(parts: PageParts, exchange: Exchange): Promise<void> {
  const { site, guesses, links } = parts;
  const waiting = await waitingFor(parts, exchange);
  const { csrf, client } = waiting;
  const interaction = waiting.interaction.uid;
  const showForm = (status: number, fault?: string): void =>
    showWaiting(parts, exchange, waiting, status, forgottenPage(site, { interaction, csrf, fault }));
  const { form, address, response } = exchange;
  if (!form) return showForm(200);
  if (isForged(parts, exchange, waiting)) return showForm(403);
  const email = (form.get("email") ?? "").trim();
  if (!email.includes("@") || email.length > 254) return showForm(422, "This is no email address.");
  const asked = { tenantId: client.tenantId, email, address };
  const seconds = await guesses.secondsToWaitForMail(asked);
  if (seconds > 0) {
    response.setHeader("Retry-After", String(seconds));
    return showForm(429, tooManyTries(seconds));
  }
  await links.ask({ ...asked, purpose: "password" });
  show(site, exchange, 200, linkSentPage(site, interaction));
}

/** `/password`, where the link of the mail leads. */
export async function choosePassword(parts: PageParts, exchange: Exchange): Promise<void> {
  const { site, links, passkeys } = parts;
  const { form, address } = exchange;
  const found = await foundLink(parts, exchange, "password");
  if (!found) return;
  const { person, token } = found;
  const names = (await passkeys.list(person)).map(({ name }) => name);
  const shown = { email: person.email, token, passkeys: names };
  if (!form) return show(site, exchange, 200, newPasswordPage(site, shown));
  const password = form.get("password") ?? "";
  const fault = passwordFault(password);
  if (fault !== undefined) {
    const told = `${fault.charAt(0).toUpperCase()}${fault.slice(1)}.`;
    return show(site, exchange, 422, newPasswordPage(site, { ...shown, fault: told }));
  }
  const chosen = { password, address, removesPasskeys: form.has("remove_passkeys") };
  if (!(await links.resetPassword(token, chosen))) return showSpent(parts, exchange);
  show(site, exchange, 200, passwordChangedPage(site));
}

/** `/email`, where the link of the mail leads. */
export async function confirmEmail(parts: PageParts, exchange: Exchange): Promise<void> {
  const { site, links } = parts;
  const found = await foundLink(parts, exchange, "email");
  if (!found) return;
  const { person, email, token } = found;
  const isNew = person.email !== email;
  const showForm = (status: number, fault?: string): void =>
    show(site, exchange, status, confirmEmailPage(site, { email, token, isNew, fault }));
  if (!exchange.form) return showForm(200);
  // An application asked for the new address, which may be one of its maker's: only the person knows the password.
  const refusal = isNew ? await refusalOfPassword(parts, exchange, person) : undefined;
  if (refusal) return showForm(refusal.status, refusal.fault);
  try {
    if (!(await links.verifyEmail(token))) return showSpent(parts, exchange);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "conflict") throw error;
    return showForm(409, "Another account has this address.");
  }
  show(site, exchange, 200, emailConfirmedPage(site));
}

/** What is answered to whoever does not know the password of the person. */
async function refusalOfPassword(
  parts: PageParts,
  exchange: Exchange,
  { tenantId, email }: Person,
): Promise<{ readonly status: number; readonly fault: string } | undefined> {
  const password = exchange.form?.get("password") ?? "";
  const { person, seconds } = await tryPassword(parts, exchange, { tenantId, email, password });
  if (seconds > 0) return { status: 429, fault: toldToWait(exchange, seconds) };
  return person ? undefined : { status: 401, fault: "The password is wrong." };
}

/** `/account`: whether the address is confirmed, and a mail with which to do that. */
export async function showAccount(parts: PageParts, exchange: Exchange): Promise<void> {
  const { site, guesses, links } = parts;
  const found = await signedIn(parts, exchange);
  if (!found) return;
  const { person, csrf } = found;
  const isSent = exchange.query.has("sent");
  if (!exchange.form) return show(site, exchange, 200, emailPage(site, person, csrf, isSent));
  if (person.isEmailVerified) return seeOther(site, exchange, "/account");
  const { tenantId, email } = person;
  const asked = { tenantId, email, address: exchange.address };
  const seconds = await guesses.secondsToWaitForMail(asked);
  if (seconds > 0) return showTooMany(site, exchange, seconds);
  await links.ask({ ...asked, purpose: "email" });
  seeOther(site, exchange, "/account?sent");
}

/** The link that was opened; undefined where its bearer has been answered already. */
async function foundLink(
  parts: PageParts,
  exchange: Exchange,
  purpose: LinkPurpose,
): Promise<(FoundLink & { readonly token: string }) | undefined> {
  const { form, query } = exchange;
  if (form && isFromElsewhere(exchange)) {
    showRefusedForm(parts.site, exchange);
    return undefined;
  }
  const token = (form ?? query).get("token") ?? "";
  const found = await parts.links.find(purpose, token);
  if (!found) showSpent(parts, exchange);
  return found && { ...found, token };
}

function showSpent({ site }: PageParts, exchange: Exchange): void {
  show(site, exchange, 400, errorPage(site, spentLink));
}

const spentLink = {
  error: "invalid_link",
  error_description: "This link was used already, is too old, or is not complete. Ask for another one.",
};
