// `/account`: a person's name and email address, and the fields of the app that people change themselves.

import { Problem } from "../../errors.ts";
import {
  type PageContext,
  type PageRequest,
  redirectSeeOther,
  sendPage,
  sendRefusedForm,
  sendTooManyRequests,
} from "../interaction/page-request.ts";
import { ownDataPage, type ShownAccount } from "../pages/own-data-page.ts";
import { bodyOf, editedValues, enteredValues, ownFields, refusalText } from "./own-fields.ts";
import { callerOf, requireSignedIn, type SignedInUser } from "./signed-in.ts";

/**
 * Shows whether the address is confirmed; forms request a confirmation email, and change the name, the address or the
 * fields of the app. A new address is pending until it is confirmed with the password.
 */
export async function showAccount(context: PageContext, pageRequest: PageRequest): Promise<void> {
  const { issuer, engine, model } = context;
  const signedIn = await requireSignedIn(context, pageRequest);
  if (!signedIn) return;
  const { user, csrf } = signedIn;
  const { form, query } = pageRequest;
  const caller = callerOf(model, user, pageRequest.address);
  const fields = ownFields(model);
  const show = async (status: number, error?: string): Promise<void> => {
    const done = (["sent", "changed", "saved"] as const).find((each) => query.has(each));
    const isRefused = form?.get("change") === "details";
    const values = isRefused
      ? enteredValues(fields, form)
      : editedValues(fields, fields.length === 0 ? {} : (await engine.me(caller)).user!);
    const shown: ShownAccount = { csrf, values, done: error === undefined ? done : undefined, error };
    sendPage(issuer, pageRequest, status, ownDataPage(issuer, user, shown));
  };
  if (!form) return show(200);
  const change = form.get("change");
  if (change === "confirm") return requestConfirmation(context, pageRequest, signedIn);
  if (change !== "name" && change !== "email" && change !== "details")
    return sendRefusedForm(issuer, pageRequest);
  if (change === "email" && (await isRefused(context, pageRequest, signedIn))) return;
  try {
    const body = change === "details" ? bodyOf(fields, form) : { [change]: (form.get(change) ?? "").trim() };
    await engine.updateMe(caller, body);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    if (change === "details") return show(error.status, refusalText(fields, error));
    return show(error.status, change === "name" ? "Enter your name." : "Enter a valid email address.");
  }
  redirectSeeOther(issuer, pageRequest, change === "email" ? "/account?changed" : "/account?saved");
}

async function requestConfirmation(
  context: PageContext,
  pageRequest: PageRequest,
  { user }: SignedInUser,
): Promise<void> {
  const { issuer, bruteForce, links } = context;
  if (user.isEmailVerified) return redirectSeeOther(issuer, pageRequest, "/account");
  const { tenantId, email } = user;
  const attempt = { tenantId, email, address: pageRequest.address };
  const seconds = await bruteForce.secondsToWaitForEmail(attempt, "email");
  if (seconds > 0) return sendTooManyRequests(issuer, pageRequest, seconds);
  await links.request({ ...attempt, purpose: "email" });
  redirectSeeOther(issuer, pageRequest, "/account?sent");
}

/** Whether a page was sent instead, because too many emails were requested. */
async function isRefused(
  { issuer, bruteForce }: PageContext,
  pageRequest: PageRequest,
  { user: { tenantId, email } }: SignedInUser,
): Promise<boolean> {
  const attempt = { tenantId, email, address: pageRequest.address };
  const seconds = await bruteForce.secondsToWaitForEmail(attempt, "change");
  if (seconds > 0) sendTooManyRequests(issuer, pageRequest, seconds);
  return seconds > 0;
}
