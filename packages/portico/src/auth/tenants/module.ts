import type { Module } from "../../runtime/module.ts";
import { tenantsTable } from "./tenant.ts";

export function tenantsModule(): Module {
  return { tables: [tenantsTable] };
}
