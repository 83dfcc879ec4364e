import type { Module } from "../../runtime/module.ts";
import { clientSecrets, oauthClients } from "./resource.ts";

/** OAuth clients and their secrets. */
export function clientsModule(): Module {
  return { resources: [oauthClients, clientSecrets] };
}
