// The brand of the pages, from the settings and the logo file that they name.

import { readFileSync, statSync } from "node:fs";
import type { App } from "../declare/app.ts";
import { OperatorError } from "../errors.ts";
import { type Brand, type Logo, logoOf, maxLogoBytes } from "../oauth/pages/brand.ts";
import type { Settings } from "./settings/settings.ts";

/** @throws OperatorError if the logo cannot be read or is not an image of an allowed type */
export function brandOf(app: App, { pagesName, pagesColour, pagesLogo }: Settings): Brand {
  return {
    name: pagesName ?? app.name,
    accent: pagesColour,
    logo: pagesLogo === undefined ? undefined : readLogo(pagesLogo),
  };
}

function readLogo(file: string): Logo {
  let bytes: Buffer | undefined;
  try {
    const stats = statSync(file);
    bytes = stats.isFile() && stats.size <= maxLogoBytes ? readFileSync(file) : undefined;
  } catch (error) {
    throw new OperatorError(`PORTICO_PAGES_LOGO cannot be read: ${(error as Error).message}`);
  }
  const logo = bytes && logoOf(bytes);
  if (logo) return logo;
  const maxSize = `${maxLogoBytes / 1024} KiB`;
  throw new OperatorError(
    `PORTICO_PAGES_LOGO is ${file}; it must be a PNG, JPEG, WebP or SVG of at most ${maxSize}`,
  );
}
