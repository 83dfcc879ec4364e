// What all reference pages share: the described API, its addresses, and the form of a page.

import type { Quota } from "../declare/caller.ts";
import type { Html } from "../lib/html.ts";
import type { Model } from "../model/model.ts";
import type { Linked } from "./schema-view.ts";

export interface Site extends Linked {
  /** The name of the API on its pages. */
  readonly name: string;
  /** The URL of the logo; undefined if there is none on this origin. */
  readonly logo: string | undefined;
  /** The URLs at which callers reach the API and its authorization server. */
  readonly urls: { readonly resource: string; readonly issuer: string };
  /** The path of PUBLIC_URL: `/api`; empty at the root. */
  readonly basePath: string;
  /** The path of the script and the style sheet. */
  readonly files: string;
  readonly model: Model;
  readonly keyQuota: Quota;
  readonly failedAuthQuota: Quota;
  /** Of webhook deliveries. */
  readonly deliveries: {
    /** Seconds before each attempt. */
    readonly schedule: readonly number[];
    readonly timeoutSeconds: number;
  };
}

export interface Page {
  /** Below that of the pages: `/errors`; empty for the first one. */
  readonly path: string;
  readonly title: string;
  /** Parts of it that the navigation lists while it is shown. */
  readonly parts: readonly { readonly anchor: string; readonly title: string }[];
  /** The content, with its heading. */
  readonly render: (site: Site) => Html;
}
