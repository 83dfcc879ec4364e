// The emails that users get about their own account: links that they requested, and changes to it.

import { type Email, renderEmail, truncated, utc } from "./layout.ts";

/** What every email about an account says. */
export interface AccountFacts {
  readonly apiName: string;
  readonly name: string;
  readonly email: string;
  /** When the request was made, as a timestamp. */
  readonly at: string;
  /** The network address that the request came from. */
  readonly address: string;
}

interface LinkFacts extends AccountFacts {
  readonly url: string;
  readonly minutes: number;
}

export function passwordLinkEmail(facts: LinkFacts): Email {
  return renderEmail({
    subject: `Choose a new password for ${facts.apiName}`,
    greeting: greeting(facts),
    opening: `Someone, probably you, requested a link to choose a new password for your account at ${facts.apiName}.`,
    facts: rows(facts, "Requested"),
    advice: [
      {
        sentence: `Choose your new password here. The link works once, within ${durationInWords(facts.minutes)}:`,
        link: facts.url,
      },
      { sentence: "If this wasn't you, you can ignore this email. Your password stays the same." },
    ],
  });
}

export function confirmationLinkEmail(facts: LinkFacts): Email {
  return renderEmail({
    subject: `Confirm your email address for ${facts.apiName}`,
    greeting: greeting(facts),
    opening: `Please confirm that this is the email address of your account at ${facts.apiName}.`,
    facts: rows(facts, "Requested"),
    advice: [
      {
        sentence: `Confirm it here. The link works once, within ${durationInWords(facts.minutes)}:`,
        link: facts.url,
      },
      { sentence: "If you don't have such an account, you can ignore this email." },
    ],
  });
}

/** To somebody who has no account yet. */
export function invitationEmail(facts: {
  readonly apiName: string;
  readonly tenantName: string;
  readonly email: string;
  readonly role: string;
  readonly inviterName: string | undefined;
  readonly expiresAt: string;
  readonly url: string;
}): Email {
  const organization = nameInEmail(facts.tenantName);
  const inviter: readonly (readonly [string, string])[] =
    facts.inviterName === undefined ? [] : [["Invited by", nameInEmail(facts.inviterName)]];
  return renderEmail({
    subject: `You are invited to join ${organization} at ${facts.apiName}`,
    greeting: "Hello,",
    opening: `You are invited to create an account at ${facts.apiName}, as a member of ${organization}.`,
    facts: [
      ["Address", facts.email],
      ["Role", facts.role],
      ...inviter,
      ["Valid until", utc(facts.expiresAt)],
    ],
    advice: [
      { sentence: "Accept the invitation here, and choose a password:", link: facts.url },
      { sentence: "If you don't know who invites you, you can ignore this email. No account is created." },
    ],
  });
}

/** To somebody who has no account yet. */
export function signUpLinkEmail(facts: LinkFacts): Email {
  return renderEmail({
    subject: `Create your account at ${facts.apiName}`,
    greeting: "Hello,",
    opening: `Someone, probably you, entered this email address to create an account at ${facts.apiName}.`,
    facts: rows(facts, "Requested"),
    advice: [
      {
        sentence: `Create your account here. The link works once, within ${durationInWords(facts.minutes)}:`,
        link: facts.url,
      },
      { sentence: "If this wasn't you, you can ignore this email. No account is created." },
    ],
  });
}

export function signUpRefusedEmail(facts: AccountFacts): Email {
  return renderEmail({
    subject: `You already have an account at ${facts.apiName}`,
    greeting: greeting(facts),
    opening: `Someone, probably you, entered your email address to create an account at ${facts.apiName}. You already have one.`,
    facts: rows(facts, "Requested"),
    advice: [
      {
        sentence:
          "Sign in with this address. If you forgot your password, the sign-in page can send you a link to choose a new one.",
      },
      { sentence: "If this wasn't you, you can ignore this email. Your account stays the same." },
    ],
  });
}

/** To the previous address. */
export function emailChangedEmail(
  facts: AccountFacts & { readonly newEmail: string; readonly isPending: boolean },
): Email {
  const { apiName, newEmail, isPending } = facts;
  return renderEmail({
    subject: isPending
      ? `A new email address was requested for your account at ${apiName}`
      : `The email address of your account at ${apiName} was changed`,
    greeting: greeting(facts),
    opening: isPending
      ? `An application that you allowed to change your account at ${apiName} requested a new email address for it. The new address takes effect once it is confirmed.`
      : `Your account at ${apiName} has a new email address. Emails about your account go there from now on.`,
    facts: [["New address", newEmail], ...rows(facts, isPending ? "Requested" : "Changed")],
    advice: [
      {
        sentence: isPending
          ? "If this wasn't you, revoke the application's access. Without your password, nobody can confirm the new address."
          : `If you didn't expect this, contact the people who run ${apiName}.`,
      },
    ],
  });
}

export function passwordChangedEmail(facts: AccountFacts): Email {
  return renderEmail({
    subject: `Your password for ${facts.apiName} was changed`,
    greeting: greeting(facts),
    opening: `Your account at ${facts.apiName} has a new password. You have been signed out everywhere, and applications need your permission again.`,
    facts: rows(facts, "Changed"),
    advice: [
      {
        sentence:
          "If this wasn't you, someone else can read your email. Secure your mailbox first, then choose a new password.",
      },
    ],
  });
}

export function passwordGuessingEmail(facts: AccountFacts): Email {
  return renderEmail({
    subject: `Failed attempts to sign in to your account at ${facts.apiName}`,
    greeting: greeting(facts),
    opening: `Someone entered many wrong passwords for your account at ${facts.apiName}. Further attempts are slowed down for now. You can still sign in.`,
    facts: rows(facts, "Last attempt"),
    advice: [{ sentence: "If you use your password anywhere else, choose a new one." }],
  });
}

export function passkeyAddedEmail(facts: AccountFacts & { readonly passkey: string }): Email {
  return renderEmail({
    subject: `A passkey was added to your account at ${facts.apiName}`,
    greeting: greeting(facts),
    opening: `A new passkey can be used to sign in to your account at ${facts.apiName}.`,
    facts: [["Passkey", facts.passkey], ...rows(facts, "Added")],
    advice: [
      {
        sentence:
          "If this wasn't you, remove the passkey on the passkeys page of your account, end all other sessions, and choose a new password.",
      },
    ],
  });
}

const maxNameLength = 60;

/**
 * A name that its owner chose, for an email to somebody who may not know them. Mail programs make links of text such as
 * `example.com/free`, so its points and slashes are replaced.
 */
function nameInEmail(name: string): string {
  return truncated(name.replaceAll(/(?<=\S)[./:@\\](?=\S)/g, " "), maxNameLength);
}

/** A new address, which gets a link, may belong to somebody else. */
function greeting({ name }: AccountFacts): string {
  return `Hello ${nameInEmail(name)},`;
}

function rows({ email, at, address }: AccountFacts, when: string): readonly (readonly [string, string])[] {
  return [
    ["Account", email],
    [when, utc(at)],
    ["From", address],
  ];
}

function durationInWords(minutes: number): string {
  return minutes >= 120 ? `${minutes / 60} hours` : `${minutes} minutes`;
}
