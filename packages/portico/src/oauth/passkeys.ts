// The page on which a person adds passkeys and removes them.

import { mostPasskeys } from "../identity/passkeys.ts";
import { type SignedIn, signedIn } from "./account.ts";
import { type Exchange, type PageParts, seeOther, show, showRefusedForm } from "./exchange.ts";
import { passkeysPage } from "./pages/passkeys-page.ts";
import { creationOptions, made, presentedOf } from "./webauthn.ts";

const longestName = 100;

export async function showPasskeys(parts: PageParts, exchange: Exchange): Promise<void> {
  const { passkeys, site } = parts;
  const found = await signedIn(parts, exchange);
  if (!found) return;
  const { form } = exchange;
  if (!form) return showList(parts, exchange, found, 200);
  const removed = form.get("remove");
  if (removed !== null) {
    if (!(await passkeys.remove(found.person, removed))) return showRefusedForm(site, exchange);
    return seeOther(site, exchange, "/passkeys");
  }
  if (!(await isAdded(parts, exchange, found))) {
    const fault = "The passkey could not be added. Try again.";
    return showList(parts, exchange, found, 422, fault);
  }
  seeOther(site, exchange, "/passkeys");
}

async function isAdded(
  { passkeys, challenges, site }: PageParts,
  { form, address }: Exchange,
  { session, person }: SignedIn,
): Promise<boolean> {
  const { rpId } = site;
  const presented = presentedOf(form?.get("credential") ?? null);
  if (!presented || rpId === undefined) return false;
  const challenge = await challenges.redeem(session.uid, form?.get("slip") ?? "");
  const passkey = challenge === undefined ? undefined : await made(site, rpId, challenge, presented);
  if (!passkey) return false;
  const name = (form?.get("name") ?? "").trim().slice(0, longestName) || "Passkey";
  return passkeys.add(person, { ...passkey, name }, address);
}

async function showList(
  { passkeys, challenges, site }: PageParts,
  exchange: Exchange,
  { session, person, csrf }: SignedIn,
  status: number,
  fault?: string,
): Promise<void> {
  const known = await passkeys.list(person);
  const { rpId } = site;
  const isMore = rpId !== undefined && known.length < mostPasskeys;
  const { challenge, slip } = challenges.make(session.uid);
  const creation = isMore
    ? { slip, options: creationOptions(site, rpId, challenge, person, known) }
    : undefined;
  const page = passkeysPage(site, person, { csrf, passkeys: known, creation, fault });
  show(site, exchange, status, page, { hasScript: creation !== undefined });
}
