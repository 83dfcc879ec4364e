// Parsers of settings. Each takes the text of a setting and the name to report; empty text means "not set".

import type { Quota } from "../../declare/caller.ts";
import { OperatorError } from "../../errors.ts";
import type { AllowedOrigins } from "../../http/hooks/cors.ts";
import { isNetwork } from "../../net/client-address.ts";

/** @throws OperatorError naming the setting, its text and what is allowed */
export type Parser<Value> = (text: string, name: string) => Value;

export interface Sender {
  /** Empty to show only the address. */
  readonly name: string;
  readonly address: string;
}

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Parser<Choice> {
  return (text, name) => {
    const match = choices.find((choice) => choice === text);
    if (match !== undefined) return match;
    throw new OperatorError(`${name} is '${text}'; it must be one of ${choices.join(", ")}`);
  };
}

/** `0` or `1`; `true` or `false` as a program that embeds the server passes it. */
export const flag: Parser<boolean> = (text, name) => {
  if (text === "1") return true;
  if (text === "0") return false;
  throw new OperatorError(`${name} is '${text}'; it must be one of 0, 1`);
};

/** `0,5,300`: seconds before each attempt, the first of which may be at once. */
export const schedule: Parser<readonly number[]> = (text, name) => {
  const seconds = text.split(",").map((each) => each.trim());
  const isValid = seconds.length <= 30 && seconds.every((each) => /^\d{1,6}$/.test(each));
  if (isValid) return seconds.map(Number);
  throw new OperatorError(
    `${name} is '${text}'; write the seconds before each attempt, at most 30 numbers: 0,5,300`,
  );
};

/** `true` or `false`; undefined if it is not set. */
export const optionalFlag: Parser<boolean | undefined> = (text, name) => {
  if (text === "") return undefined;
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new OperatorError(`${name} is '${text}'; it must be true or false`);
};

export function wholeNumber(max = 99_999_999): Parser<number> {
  return (text, name) => {
    if (/^[1-9]\d{0,7}$/.test(text) && Number(text) <= max) return Number(text);
    throw new OperatorError(`${name} is '${text}'; it must be a whole number from 1 to ${max}`);
  };
}

export function days(min: 0 | 1): Parser<number> {
  return (text, name) => {
    if (/^\d{1,4}$/.test(text) && Number(text) >= min) return Number(text);
    throw new OperatorError(`${name} is '${text}'; it must be a number of days from ${min} to 9999`);
  };
}

/** `1000/60`: requests, and the seconds of the window. */
export const quota: Parser<Quota> = (text, name) => {
  const [, limit, windowSeconds] = /^(\d{1,9})\/(\d{1,6})$/.exec(text) ?? [];
  if (Number(limit) > 0 && Number(windowSeconds) > 0)
    return Object.freeze({ limit: Number(limit), windowSeconds: Number(windowSeconds) });
  throw new OperatorError(`${name} is '${text}'; write requests and the seconds of their window: 1000/60`);
};

export const port: Parser<number> = (text, name) => {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= 65_535) return number;
  throw new OperatorError(`${name} is '${text}'; it must be a number from 0 to 65535`);
};

export const hostName: Parser<string> = (text, name) => {
  if (!/\s/.test(text) && URL.canParse(`http://${urlHost(text)}`)) return text;
  throw new OperatorError(`${name} is '${text}'; it must be an address or a name of this machine`);
};

/** A host as in a URL: an IPv6 address is put in brackets. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Without a slash at the end. */
export const httpUrl: Parser<string | undefined> = (text, name) => {
  if (text === "") return undefined;
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "")
    return text.replace(/\/+$/, "");
  throw new OperatorError(`${name} is '${text}'; it must be an http or https URL without query`);
};

/** The message does not repeat the URL, which may hold a password. */
export const introspectionUrl: Parser<string | undefined> = (text, name) => {
  if (text === "") return undefined;
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && url.username === "") return text;
  throw new OperatorError(`${name} must be an http or https URL without a user name`);
};

/** The message does not repeat the URL, which may hold a password. */
export const smtpUrl: Parser<string | undefined> = (text, name) => {
  if (text === "") return undefined;
  const url = URL.parse(text);
  if (url && /^smtps?:$/.test(url.protocol) && url.hostname !== "") return text;
  throw new OperatorError(
    `${name} is not the address of a mail server; write smtp://USER:PASSWORD@HOST:PORT or smtps://...`,
  );
};

/** The message does not repeat the URL, which may hold a password. */
export const redisUrl: Parser<string | undefined> = (text, name) => {
  if (text === "") return undefined;
  const url = URL.parse(text);
  if (url && /^rediss?:$/.test(url.protocol) && url.hostname !== "") return text;
  throw new OperatorError(`${name} must be redis://USER:PASSWORD@HOST:PORT or rediss://...`);
};

/** The message does not repeat the URL, which may hold a secret. */
export const storageUrl: Parser<string | undefined> = (text, name) => {
  if (text === "") return undefined;
  if (text.startsWith("file:") && text.length > "file:".length) return text;
  const url = URL.parse(text);
  const isS3 = url && /^s3(\+http)?:$/.test(url.protocol) && url.hostname && url.username && url.password;
  if (isS3 && /^\/[^/]/.test(url.pathname)) return text;
  throw new OperatorError(
    `${name} is not a storage; write file:PATH or s3://KEY:SECRET@HOST/BUCKET?region=REGION`,
  );
};

/** `Portico <no-reply@example.com>`, or the address alone. */
export const sender: Parser<Sender | undefined> = (text, name) => {
  if (text === "") return undefined;
  const form = /^(?:"?([^<>"\p{Cc}]*?)"?\s*<([^\s<>@,;]+@[^\s<>@,;]+)>|([^\s<>@,;]+@[^\s<>@,;]+))$/u;
  const [, displayName = "", bracketed, bare] = form.exec(text.trim()) ?? [];
  const address = bracketed ?? bare;
  if (address !== undefined) return { name: displayName, address };
  throw new OperatorError(`${name} is '${text}'; write Name <name@example.com>, or the address alone`);
};

/** `10.0.0.7,192.168.0.0/16` */
export const networks: Parser<readonly string[]> = (text, name) => {
  const parts = listOf(text);
  const invalid = parts.find((each) => !isNetwork(each));
  if (invalid === undefined) return parts;
  throw new OperatorError(`${name} has '${invalid}'; write addresses or networks: 10.0.0.7,192.168.0.0/16`);
};

/** Origins are compared with those that browsers send, so only that form is accepted. */
export const origins: Parser<AllowedOrigins | undefined> = (text, name) => {
  if (text === "") return undefined;
  if (text === "*") return "*";
  const parts = text.split(",").map((each) => each.trim());
  const invalid = parts.find((each) => !/^https?:/.test(each) || URL.parse(each)?.origin !== each);
  if (invalid === undefined) return parts;
  throw new OperatorError(
    `${name} has '${invalid}'; write origins as https://app.example.com, separated by commas, or * alone for every one`,
  );
};

export const minSecretLength = 32;

export const secrets: Parser<readonly string[] | undefined> = (text, name) => {
  if (text === "") return undefined;
  const parts = text.split(",").map((each) => each.trim());
  if (parts.length <= 2 && parts.every((each) => each.length >= minSecretLength)) return parts;
  throw new OperatorError(
    `${name} must be one value, or two separated by a comma, of ${minSecretLength} characters or more each`,
  );
};

export const pagesName: Parser<string | undefined> = (text, name) => {
  if (text.length <= 100 && !/\p{Cc}/u.test(text)) return optionalText(text.trim());
  throw new OperatorError(`${name} must be one line of at most 100 characters`);
};

export const colour: Parser<string | undefined> = (text, name) => {
  if (text === "" || /^#[\da-f]{6}$/i.test(text)) return optionalText(text.toLowerCase());
  throw new OperatorError(`${name} is '${text}'; write red, green and blue in hexadecimal: #0b57d0`);
};

export function requiredText(text: string): string {
  return text;
}

export function optionalText(text: string): string | undefined {
  return text || undefined;
}

function listOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
