import type { Module } from "../../runtime/module.ts";
import { tenantsTable } from "../../store/tenants.ts";

/** Tenants, which own all other rows. */
export function tenantsModule(): Module {
  return { tables: [tenantsTable] };
}
