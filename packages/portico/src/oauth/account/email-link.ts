// The link in an email: the page that it opens, and the form of that page.

import type { ValidLink } from "../../auth/users/email-links.ts";
import type { LinkPurpose } from "../../mail/account-emails.ts";
import {
  isCrossSite,
  type PageContext,
  type PageRequest,
  sendPage,
  sendRefusedForm,
} from "../interaction/page-request.ts";
import { type Refusal, refusalPage } from "../pages/plain-pages.ts";

/** The link of a request; undefined if an error page was sent instead. */
export async function openedLink(
  context: PageContext,
  pageRequest: PageRequest,
  purpose: LinkPurpose,
): Promise<(ValidLink & { readonly token: string }) | undefined> {
  const { form, query } = pageRequest;
  if (form && isCrossSite(pageRequest)) {
    sendRefusedForm(context.issuer, pageRequest);
    return undefined;
  }
  const token = (form ?? query).get("token") ?? "";
  const link = await context.links.find(purpose, token);
  if (!link) sendInvalidLink(context, pageRequest);
  return link && { ...link, token };
}

export function sendInvalidLink({ issuer }: PageContext, pageRequest: PageRequest): void {
  sendPage(issuer, pageRequest, 400, refusalPage(issuer, invalidLink));
}

const invalidLink: Refusal = {
  title: "This link does not work",
  text: "This link has expired, was used already, or is incomplete. Request a new one.",
};
