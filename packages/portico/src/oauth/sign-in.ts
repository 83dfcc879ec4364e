// A person shows who they are, with their email address and password.

import type { Exchange, PageParts } from "./exchange.ts";
import { finishSignIn } from "./finish-sign-in.ts";
import { signInPage } from "./pages/sign-in-page.ts";
import { toldToWait, tryPassword } from "./password-try.ts";
import { showWaiting, type Waiting } from "./waiting.ts";
import { requestOptions } from "./webauthn.ts";

/** What the page is shown with again. */
interface Again {
  readonly email?: string;
  readonly fault?: string;
}

const wrongSignIn = "The email address or the password is wrong.";

export async function signIn(parts: PageParts, exchange: Exchange, waiting: Waiting): Promise<void> {
  const { form } = exchange;
  const { interaction, client } = waiting;
  const hint = interaction.params["login_hint"];
  const email = form?.get("email") ?? (typeof hint === "string" ? hint : "");
  const showAgain = (status: number, fault?: string): void => {
    showSignIn(parts, exchange, waiting, status, { email, ...(fault !== undefined && { fault }) });
  };
  if (!form) return showAgain(200);
  const password = form.get("password") ?? "";
  const { person, seconds } = await tryPassword(parts, exchange, {
    tenantId: client.tenantId,
    email,
    password,
  });
  if (seconds > 0) return showAgain(429, toldToWait(exchange, seconds));
  if (!person) return showAgain(401, wrongSignIn);
  return finishSignIn(parts, exchange, waiting, { accountId: person.id, amr: ["pwd"] });
}

export function showSignIn(
  parts: PageParts,
  exchange: Exchange,
  waiting: Waiting,
  status: number,
  { email = "", fault }: Again = {},
): void {
  const { site, challenges } = parts;
  const { interaction, client, csrf } = waiting;
  const { rpId } = site;
  const { challenge, slip } = challenges.make(interaction.jti);
  const passkey = rpId === undefined ? undefined : { slip, options: requestOptions(rpId, challenge) };
  const { uid } = interaction;
  const page = signInPage(site, { clientName: client.name, csrf, email, fault, interaction: uid, passkey });
  showWaiting(parts, exchange, waiting, status, page, passkey !== undefined);
}
