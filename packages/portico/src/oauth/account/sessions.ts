// `/sessions`: where a user is signed in.

import type { SignInSession } from "../../auth/users/sign-in-sessions.ts";
import { browserName } from "../interaction/browser-name.ts";
import {
  type PageContext,
  type PageRequest,
  redirectSeeOther,
  sendPage,
  sendRefusedForm,
} from "../interaction/page-request.ts";
import { type ShownSession, sessionsPage } from "../pages/sessions-page.ts";
import { requireSignedIn } from "./signed-in.ts";

/** Shows the user's sessions; a form ends one of them, or all but the current one. */
export async function showSessions(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { sessions, issuer } = context;
  const signedIn = await requireSignedIn(context, pageRequest);
  if (!signedIn) return;
  const { user, csrf, session } = signedIn;
  const listed = await sessions.list(user.id);
  const { form } = pageRequest;
  if (!form) {
    const shown = listed.map((each) => shownSession(each, session.uid));
    return sendPage(issuer, pageRequest, 200, sessionsPage(issuer, user, csrf, shown));
  }
  const others = listed.filter(({ uid }) => uid !== session.uid);
  const named = others.filter(({ uid }) => uid === form.get("session"));
  const isAll = form.get("end") === "others";
  if (!isAll && named.length === 0) return sendRefusedForm(issuer, pageRequest);
  await sessions.end(isAll ? others : named);
  redirectSeeOther(issuer, pageRequest, "/sessions");
}

function shownSession({ uid, loginTs, seen }: SignInSession, current: string): ShownSession {
  return {
    id: uid,
    isCurrent: uid === current,
    browser: browserName(seen?.browser ?? ""),
    address: seen?.address ?? "",
    signedInAt: loginTs,
    seenAt: seen?.at ?? loginTs,
  };
}
