import type { Module } from "../../runtime/module.ts";
import { oauthRecordRetention, oauthRecordsTable } from "./oauth-records-table.ts";
import { signingKeysTable } from "./signing-keys.ts";

/** Codes, tokens and sessions of the authorization server, and the keys that sign tokens. */
export function tokensModule(): Module {
  return {
    tables: [oauthRecordsTable, signingKeysTable],
    start: () => ({ retention: [oauthRecordRetention] }),
  };
}
