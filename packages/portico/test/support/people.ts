// Invited people: the link in their email, and the form of its page.

import { Browser, type Shown } from "./browser.ts";
import { emailTo, linkIn } from "./emails.ts";
import { password } from "./oauth.ts";
import type { TestServer } from "./scenario.ts";
import type { Answer, RequestOptions } from "./server.ts";

export const invitationKind = "account.invitation";

export interface CreatedInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly status: string;
}

export function invite(
  server: TestServer,
  body: { readonly email: string; readonly role?: string },
  options: RequestOptions = {},
): Promise<CreatedInvitation> {
  return server.create("/v1/invitations", body, options);
}

/** The link in the newest of `count` emails. */
export async function invitationLink(server: TestServer, email: string, count = 1): Promise<string> {
  return linkIn(await emailTo(server, email, invitationKind, count));
}

/** Opens a link that creates an account, and submits its form. */
export async function acceptLink(
  link: string,
  fields: Readonly<Record<string, string>> = {},
  browser: Browser = new Browser(),
): Promise<Shown> {
  const page = await browser.open(link);
  return page.status === 200 ? browser.submit(page, { name: "Invited", password, ...fields }) : page;
}

/** The users with an address, as the tenant of the server's key reads them. */
export async function usersWithEmail(
  server: TestServer,
  email: string,
  options: RequestOptions = {},
): Promise<Answer["body"][]> {
  return (await server.request(`/users?email=${encodeURIComponent(email)}`, options)).body.data;
}
