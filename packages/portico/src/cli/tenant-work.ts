// Commands that read and write the rows of a tenant, through the engine and with the rights of the server itself.

import type { ApiKeys } from "../auth/api-keys/resource.ts";
import { systemCaller } from "../auth/system-caller.ts";
import { findTenant, listTenants } from "../auth/tenants/tenant.ts";
import type { Caller } from "../declare/caller.ts";
import type { RecordOf } from "../declare/record.ts";
import type { Resource } from "../declare/resource.ts";
import { Engine } from "../engine/engine.ts";
import { OperatorError } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import type { Condition } from "../query/condition.ts";
import { wholeRow } from "../query/selection.ts";
import { newestFirst } from "../query/sort.ts";
import { type Assembly, assemble, withStore } from "../runtime/compose.ts";
import type { Settings } from "../runtime/settings/settings.ts";
import type { Store } from "../store/store.ts";
import type { WebhookEndpoints } from "../webhooks/endpoint.ts";
import type { Arguments } from "./command.ts";

export const tenantOption = { value: "ID", help: "the tenant (default: the first one)" };

/** More rows than any tenant has. */
const unlimited = 1_000_000;

export class TenantContext {
  readonly store: Store;
  readonly engine: Engine;
  /** The server itself, which may do everything in the tenant. */
  readonly caller: Caller;
  readonly apiKeys: ApiKeys;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly settings: Settings;

  constructor(store: Store, { model, settings, apiKeys, webhookEndpoints }: Assembly, tenantId: string) {
    this.store = store;
    this.settings = settings;
    this.engine = new Engine(model, store);
    this.caller = systemCaller(model, tenantId);
    this.apiKeys = apiKeys;
    this.webhookEndpoints = webhookEndpoints;
  }

  model({ name }: Resource): ResourceModel {
    return this.engine.model.resource.get(name)!;
  }

  /** @returns rows of a resource, newest first */
  async newest<R extends Resource>(
    declared: R,
    limit: number = unlimited,
    conditions: readonly Condition[] = [],
  ): Promise<RecordOf<R>[]> {
    const resource = this.model(declared);
    const { rows } = await this.engine.list(this.caller, {
      ...{ resource, selection: wholeRow(resource), conditions, words: [] },
      sort: newestFirst(resource),
      page: { style: "first", limit },
    });
    return JSON.parse(rows);
  }

  /** @throws Problem `not_found` */
  async get<R extends Resource>(declared: R, id: string): Promise<RecordOf<R>> {
    const resource = this.model(declared);
    const read = { resource, selection: wholeRow(resource), id, conditions: [] };
    return JSON.parse(await this.engine.get(this.caller, read));
  }
}

/** Opens the database for the tenant that `--tenant` names. @throws OperatorError for an unknown tenant */
export async function withTenant<T>(
  args: Arguments,
  work: (context: TenantContext) => Promise<T>,
): Promise<T> {
  const assembly = await assemble(args.project);
  return withStore(assembly, async (store) => {
    const tenant = await findTenant(store, args.text("tenant"));
    return work(new TenantContext(store, assembly, tenant.id));
  });
}

/**
 * For commands that revoke or delete everything: which tenant is meant must not depend on which was created first.
 * @throws OperatorError if there are several tenants and `--tenant` names none
 */
export async function requireNamedTenant(args: Arguments, store: Store): Promise<void> {
  if (args.text("tenant") !== undefined) return;
  const { length } = await listTenants(store);
  if (length > 1)
    throw new OperatorError(`there are ${length} tenants; name one with --tenant (portico tenant list)`);
}

/** A member of a request body; no member for undefined. */
export function ifPresent(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}
