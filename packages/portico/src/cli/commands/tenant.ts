// portico tenant create, list, rename, delete

import { deleteTenant } from "../../auth/tenants/delete-tenant.ts";
import { createTenant, findTenant, listTenants, renameTenant } from "../../auth/tenants/tenant.ts";
import { OperatorError } from "../../errors.ts";
import { assemble, withStore } from "../../runtime/compose.ts";
import { introspectionOf, type Settings } from "../../runtime/settings/settings.ts";
import type { Store } from "../../store/store.ts";
import type { Command } from "../command.ts";

const tenantCreate: Command = {
  name: "tenant create",
  summary: "Create a tenant: an account that owns users, keys and rows.",
  options: { name: { value: "NAME", help: "name of the tenant", isRequired: true } },
  async run(args) {
    const tenant = await withStore(await assemble(args.project), (store) =>
      createTenant(store, args.required("name")),
    );
    return { json: { tenant }, lines: [`Created the tenant ${tenant.name}: ${tenant.id}`] };
  },
};

const tenantList: Command = {
  name: "tenant list",
  summary: "List the tenants, oldest first.",
  options: {},
  async run(args) {
    const tenants = await withStore(await assemble(args.project), listTenants);
    const lines = tenants.map(({ id, createdAt, name }) => `${id}  ${createdAt}  ${name}`);
    return { json: { tenants }, lines: lines.length > 0 ? lines : ["No tenants yet."] };
  },
};

const tenantRename: Command = {
  name: "tenant rename",
  summary: "Change the name of a tenant.",
  options: { name: { value: "NAME", help: "its new name", isRequired: true } },
  positionals: ["ID"],
  async run(args) {
    const tenant = await withStore(await assemble(args.project), (store) =>
      renameTenant(store, args.positionals[0]!, args.required("name")),
    );
    return { json: { tenant }, lines: [`The tenant ${tenant.id} is now named ${tenant.name}.`] };
  },
};

const progressIntervalMs = 1_000;

const tenantDelete: Command = {
  name: "tenant delete",
  summary: "Delete a tenant and everything that belongs to it. If interrupted, run it again.",
  options: { confirm: { value: "NAME", help: "name of the tenant, which confirms the deletion" } },
  positionals: ["ID"],
  async run(args) {
    const assembly = await assemble(args.project);
    return withStore(assembly, async (store) => {
      const tenant = await findTenant(store, args.positionals[0]!);
      if (args.text("confirm") !== tenant.name)
        throw new OperatorError(
          `this deletes all rows, users and keys of the tenant ${tenant.name}; to confirm, add --confirm '${tenant.name}'`,
        );
      await requireOtherIntrospectionTenant(store, assembly.settings, tenant.id);
      let reportedAt: number | undefined;
      const deletedRows = await deleteTenant(store, assembly.tables, tenant.id, (rows) => {
        reportedAt ??= performance.now();
        if (performance.now() - reportedAt < progressIntervalMs) return;
        reportedAt = performance.now();
        process.stderr.write(`${rows} rows deleted\n`);
      });
      return {
        json: { tenant, deletedRows },
        lines: [`Deleted the tenant ${tenant.name} (${tenant.id}) with ${deletedRows} rows.`],
      };
    });
  },
};

/**
 * Tokens of another issuer give access to the first tenant unless the settings name one. After its deletion they would give
 * access to the next one.
 */
async function requireOtherIntrospectionTenant(store: Store, settings: Settings, id: string): Promise<void> {
  const introspection = introspectionOf(settings);
  if (!introspection || introspection.tenantId !== undefined || (await findTenant(store)).id !== id) return;
  throw new OperatorError(
    "the tokens of PORTICO_INTROSPECTION_URL give access to the first tenant, which is this one; set PORTICO_INTROSPECTION_TENANT first",
  );
}

export const commands: readonly Command[] = [tenantCreate, tenantList, tenantRename, tenantDelete];
