// What people are sent about their own account: links that they have asked for, and that their password is another.

import { type Email, renderEmail, utc } from "./layout.ts";

/** What every letter about an account says. */
export interface AccountFacts {
  readonly apiName: string;
  readonly name: string;
  readonly email: string;
  readonly at: string;
  /** The network address of whoever asked. */
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
    opening: `Somebody, probably you, wants to choose a new password for your account at ${facts.apiName}.`,
    facts: rows(facts, "Asked"),
    advice: [
      {
        sentence: `Choose it here; the link works once, for ${durationInWords(facts.minutes)}:`,
        link: facts.url,
      },
      { sentence: "If this was not you, nothing is to be done: your password stays as it is." },
    ],
  });
}

export function confirmationLinkEmail(facts: LinkFacts): Email {
  return renderEmail({
    subject: `Confirm your email address for ${facts.apiName}`,
    greeting: greeting(facts),
    opening: `Please confirm that mail to this address reaches you, for your account at ${facts.apiName}.`,
    facts: rows(facts, "Asked"),
    advice: [
      {
        sentence: `Confirm it here; the link works once, for ${durationInWords(facts.minutes)}:`,
        link: facts.url,
      },
      { sentence: "If you have no such account, nothing is to be done." },
    ],
  });
}

/** Goes to the address of before. */
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
      : `Your account at ${apiName} has a new email address. Mails about your account go there from now on.`,
    facts: [["New address", newEmail], ...rows(facts, isPending ? "Requested" : "Changed")],
    advice: [
      {
        sentence: isPending
          ? "If this wasn't you, revoke the application's access. Without your password, nobody can confirm the new address."
          : `If you didn't expect this, ask those who run ${apiName}.`,
      },
    ],
  });
}

export function passwordChangedEmail(facts: AccountFacts): Email {
  return renderEmail({
    subject: `Your password for ${facts.apiName} was changed`,
    greeting: greeting(facts),
    opening: `Your account at ${facts.apiName} has a new password. You were signed out everywhere, and applications have to ask you again.`,
    facts: rows(facts, "Changed"),
    advice: [
      {
        sentence:
          "If this was not you, somebody reads your mail: secure your mailbox first, then choose a new password once more.",
      },
    ],
  });
}

export function passwordGuessingEmail(facts: AccountFacts): Email {
  return renderEmail({
    subject: `Somebody tries to sign in to your account at ${facts.apiName}`,
    greeting: greeting(facts),
    opening: `Many wrong passwords were sent for your account at ${facts.apiName}. Each try takes longer for now; you can sign in as before.`,
    facts: rows(facts, "Last try"),
    advice: [{ sentence: "If you use the password anywhere else, choose a new one." }],
  });
}

export function passkeyAddedEmail(facts: AccountFacts & { readonly passkey: string }): Email {
  return renderEmail({
    subject: `A passkey was added to your account at ${facts.apiName}`,
    greeting: greeting(facts),
    opening: `Your account at ${facts.apiName} can be signed in to with another passkey.`,
    facts: [["Passkey", facts.passkey], ...rows(facts, "Added")],
    advice: [
      {
        sentence:
          "If this was not you, remove it on the page of your passkeys, end the other sessions of your account, and choose a new password.",
      },
    ],
  });
}

function greeting({ name }: AccountFacts): string {
  return `Hello ${name},`;
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
