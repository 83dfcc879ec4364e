// portico key create, list, revoke

import type { Quota } from "../../declare/caller.ts";
import { OperatorError } from "../../errors.ts";
import { createKey, type KeyType } from "../../identity/api-key.ts";
import { listKeys, revokeKey } from "../../identity/keys.ts";
import { findTenant, findUser } from "../../identity/tenant.ts";
import { assemble, withStore } from "../assemble.ts";
import type { Command } from "../command.ts";

const tenantOption = { value: "ID", help: "the first tenant, when left out" };

export const keyCreate: Command = {
  name: "key create",
  summary: "Make an API key and print it, this once only.",
  options: {
    name: { value: "NAME", help: "a label for its owner", isRequired: true },
    scopes: { value: "A,B", help: "what it may do: posts:read,posts:write", isRequired: true },
    type: { value: "TYPE", help: "secret (the default) or publishable" },
    tenant: tenantOption,
    user: { value: "ID", help: "its owner; the tenant's first user, when left out" },
    "expires-at": { value: "DATE", help: "ISO 8601; one year from now, when left out; two at most" },
    "rate-limit": { value: "N", help: "requests in a window" },
    "rate-window": { value: "SECONDS", help: "length of the window" },
  },
  async run(given) {
    const assembly = await assemble();
    const { model, settings } = assembly;
    const made = await withStore(assembly, async (store) => {
      const tenant = await findTenant(store, given.text("tenant"));
      return createKey(store, model, {
        tenantId: tenant.id,
        ownerId: await findUser(store, tenant.id, given.text("user")),
        name: given.required("name"),
        scopes: given.list("scopes"),
        type: keyType(given.text("type") ?? "secret"),
        environment: settings.mode === "live" ? "live" : "test",
        expiresAt: given.text("expires-at"),
        rateLimit: quotaOf(given.number("rate-limit"), given.number("rate-window")),
      });
    });
    const warning = "Store the key now: it is not shown again.";
    return {
      json: { ...made, name: given.required("name"), scopes: given.list("scopes"), warning },
      lines: [made.key, "", `${warning} Its id is ${made.id}; it expires on ${made.expiresAt}.`],
    };
  },
};

function quotaOf(limit: number | undefined, windowSeconds = 60): Quota | undefined {
  return limit === undefined ? undefined : { limit, windowSeconds };
}

function keyType(text: string): KeyType {
  if (text === "secret" || text === "publishable") return text;
  throw new OperatorError(`--type is '${text}'; it must be secret or publishable`);
}

export const keyList: Command = {
  name: "key list",
  summary: "Show the keys of a tenant, newest first.",
  options: { tenant: tenantOption },
  async run(given) {
    const assembly = await assemble();
    const keys = await withStore(assembly, async (store) => {
      const tenant = await findTenant(store, given.text("tenant"));
      return listKeys(store, assembly.model, tenant.id);
    });
    const rows = keys.map(
      ({ id, prefix, status, expiresAt, name, scopes }) =>
        `${id}  ${prefix}…  ${status.padEnd(13)}  until ${expiresAt.slice(0, 10)}  ${name}  [${scopes.join(" ")}]`,
    );
    return {
      json: { keys },
      lines: rows.length > 0 ? rows : ["There is no key yet; see: portico key create --help"],
    };
  },
};

export const keyRevoke: Command = {
  name: "key revoke",
  summary: "Revoke a key; the next request with it is refused.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  async run(given) {
    const assembly = await assemble();
    const key = await withStore(assembly, async (store) => {
      const tenant = await findTenant(store, given.text("tenant"));
      return revokeKey(store, assembly.model, tenant.id, given.positionals[0]!);
    });
    return {
      json: { key },
      lines: [`The key ${key.name} (${key.prefix}…) is revoked since ${key.revokedAt}.`],
    };
  },
};
