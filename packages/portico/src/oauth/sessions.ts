// The page on which a person sees where they are signed in, and ends that.

import type { SignInSession } from "../identity/sign-in-sessions.ts";
import { signedIn } from "./account.ts";
import { browserName } from "./browser-name.ts";
import { type Exchange, type PageParts, seeOther, show, showRefusedForm } from "./exchange.ts";
import { type ShownSession, sessionsPage } from "./pages/sessions-page.ts";

/** Shows a person's sessions, and ends the one that a form names, or all but this one. */
export async function showSessions(parts: PageParts, exchange: Exchange): Promise<void> {
  const { sessions, site } = parts;
  const found = await signedIn(parts, exchange);
  if (!found) return;
  const { person, csrf, session } = found;
  const listed = await sessions.list(person.id);
  const { form } = exchange;
  if (!form) {
    const shown = listed.map((each) => shownSession(each, session.uid));
    return show(site, exchange, 200, sessionsPage(site, person, csrf, shown));
  }
  const others = listed.filter(({ uid }) => uid !== session.uid);
  const named = others.filter(({ uid }) => uid === form.get("session"));
  const isAll = form.get("end") === "others";
  if (!isAll && named.length === 0) return showRefusedForm(site, exchange);
  await sessions.end(isAll ? others : named);
  seeOther(site, exchange, "/sessions");
}

function shownSession({ uid, loginTs, seen }: SignInSession, current: string): ShownSession {
  return {
    id: uid,
    isThis: uid === current,
    browser: browserName(seen?.browser ?? ""),
    address: seen?.address ?? "",
    signedInAt: loginTs,
    seenAt: seen?.at ?? loginTs,
  };
}
