// Information about an API as a whole, for its descriptions.

import { OperatorError } from "../errors.ts";

export interface ApiInfo {
  /** What the API is for, in Markdown. */
  readonly description?: string;
  /** Whom to ask about the API. */
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string };
  /** The licence of the API: `{ name: "MIT", identifier: "MIT" }`, or with a `url` instead of the SPDX identifier. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
  /** The URL of the terms of service. */
  readonly termsOfService?: string;
}

const parts: Readonly<Record<"contact" | "license", readonly string[]>> = {
  contact: ["name", "url", "email"],
  license: ["name", "identifier", "url"],
};

/** @throws OperatorError with one line */
export function validateApiInfo(info: ApiInfo): void {
  for (const option of ["description", "termsOfService"] as const)
    if (info[option] !== undefined && typeof info[option] !== "string")
      throw new OperatorError(`app: ${option} must be text`);
  for (const [option, names] of Object.entries(parts)) {
    const value: unknown = info[option as keyof typeof parts];
    if (value === undefined) continue;
    const isValid =
      typeof value === "object" &&
      value !== null &&
      Object.entries(value).every(([name, each]) => names.includes(name) && typeof each === "string");
    if (!isValid)
      throw new OperatorError(`app: ${option} must be an object with text in ${names.join(", ")}`);
  }
  const { license, termsOfService, contact } = info;
  if (license && (license.name === undefined || (license.identifier && license.url)))
    throw new OperatorError("app: license needs a name, and may have an identifier or a url");
  for (const url of [termsOfService, contact?.url, license?.url])
    if (url !== undefined && !URL.canParse(url)) throw new OperatorError(`app: '${url}' is not a URL`);
}
