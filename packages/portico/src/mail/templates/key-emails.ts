// The emails that owners of API keys get: a key was created, rotated or revoked, or will expire soon. They contain
// neither the key nor its hash.

import { type Advice, type Email, renderEmail, truncated, utc } from "./layout.ts";

/** What every email about a key says. */
export interface KeyFacts {
  readonly id: string;
  readonly name: string;
  /** The first characters, by which the owner recognizes the key. */
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  readonly ownerName: string;
  /** The name of the API that the key is for. */
  readonly apiName: string;
  /** Where keys are managed: `https://api.example.com/v1/api-keys`. */
  readonly keysUrl: string;
}

/** Who changed the key, when, and from where. */
export interface KeyChange {
  /** `the API key Deploy (sk_test_ab12…) of Ada Lovelace`, or `a command on the server` */
  readonly by: string;
  readonly at: string;
  /** The network address of the request; undefined for a command. */
  readonly address: string | undefined;
}

const maxNameLengthInSubject = 60;

export function keyCreatedEmail(facts: KeyFacts & KeyChange): Email {
  return renderEmail({
    subject: `API key ${titleOf(facts)} was created`,
    greeting: greeting(facts),
    opening: `An API key for ${facts.apiName} was created, and you are its owner.`,
    facts: [...keyRows(facts), ["Created", utc(facts.at)], ...changeRows(facts)],
    advice: [
      { sentence: "The key was shown once, when it was created. It cannot be displayed again." },
      revokeAdvice(facts),
    ],
  });
}

export function keyRotatedEmail(
  facts: KeyFacts & KeyChange & { readonly replacement: { readonly prefix: string; readonly id: string } },
): Email {
  const { replacement, expiresAt } = facts;
  return renderEmail({
    subject: `API key ${titleOf(facts)} was rotated`,
    greeting: greeting(facts),
    opening: `Your API key for ${facts.apiName} was rotated. The new key has the same scopes.`,
    facts: [
      ["Name", facts.name],
      ["Old key", `${facts.prefix}…, works until ${utc(expiresAt)}`],
      ["New key", `${replacement.prefix}…`],
      ["Scopes", facts.scopes.join(", ")],
      ["Rotated", utc(facts.at)],
      ...changeRows(facts),
    ],
    advice: [
      { sentence: `Replace the old key with the new one before ${utc(expiresAt)}.` },
      revokeAdvice(facts, [facts.id, replacement.id]),
    ],
  });
}

export function keyRevokedEmail(facts: KeyFacts & KeyChange): Email {
  return renderEmail({
    subject: `API key ${titleOf(facts)} was revoked`,
    greeting: greeting(facts),
    opening: `Your API key for ${facts.apiName} was revoked. Every request with it is refused from now on.`,
    facts: [...keyRows(facts), ["Revoked", utc(facts.at)], ...changeRows(facts)],
    advice: [
      {
        sentence: "If an application still uses the key, create a new one:",
        commands: [`POST ${facts.keysUrl}`],
      },
      { sentence: "If this wasn't you, contact the people who run the API." },
    ],
  });
}

export function keyExpiringSoonEmail(facts: KeyFacts): Email {
  return renderEmail({
    subject: `API key ${titleOf(facts)} expires on ${utc(facts.expiresAt).slice(0, 10)}`,
    greeting: greeting(facts),
    opening: `Your API key for ${facts.apiName} expires soon. After that, every request with it is refused.`,
    facts: keyRows(facts),
    advice: [
      {
        sentence: `If the key is still in use, rotate it before ${utc(facts.expiresAt)}. Both keys work for a while:`,
        commands: [`POST ${facts.keysUrl}/${facts.id}/rotations`],
      },
      { sentence: "If the key is no longer used, you can ignore this email." },
    ],
  });
}

function titleOf({ name }: KeyFacts): string {
  return `"${truncated(name, maxNameLengthInSubject)}"`;
}

function greeting({ ownerName }: KeyFacts): string {
  return `Hello ${ownerName},`;
}

type Rows = readonly (readonly [label: string, value: string])[];

function keyRows({ name, prefix, scopes, expiresAt, id }: KeyFacts): Rows {
  return [
    ["Name", name],
    ["Key", `${prefix}…`],
    ["Id", id],
    ["Scopes", scopes.length > 0 ? scopes.join(", ") : "none"],
    ["Expires", utc(expiresAt)],
  ];
}

function changeRows({ by, address }: KeyChange): Rows {
  return [["By", by], ...(address === undefined ? [] : [["From", address] as const])];
}

function revokeAdvice({ id, keysUrl }: KeyFacts, ids: readonly string[] = [id]): Advice {
  return {
    sentence: `If this wasn't you, revoke ${ids.length > 1 ? "both keys" : "the key"} immediately, with a request or with a command on the server:`,
    commands: ids.flatMap((each) => [`DELETE ${keysUrl}/${each}`, `portico key revoke ${each}`]),
  };
}
