// portico key create, list, update, rotate, revoke, revoke-all

import { keyWarning } from "../../auth/api-keys/resource.ts";
import { findUser } from "../../auth/tenants/tenant.ts";
import type { Quota } from "../../declare/caller.ts";
import type { WriteResult } from "../../engine/write-result.ts";
import { OperatorError } from "../../errors.ts";
import { quota } from "../../runtime/settings/parsers.ts";
import type { Arguments, Command, CommandOutput } from "../command.ts";
import { ifPresent, requireNamedTenant, tenantOption, withTenant } from "../tenant-work.ts";
import { keyUsage } from "./key-usage.ts";

const quotaOptions = {
  "rate-limit": { value: "N", help: "requests allowed in a window, or requests/seconds: 1000/60" },
  "rate-window": { value: "SECONDS", help: "length of the window (default: 60)" },
};

const keyCreate: Command = {
  name: "key create",
  summary: "Create an API key and print it. It is shown only once.",
  options: {
    name: { value: "NAME", help: "a label for its owner", isRequired: true },
    scopes: { value: "A,B", help: "its scopes: posts:read,posts:write; a publishable key needs none" },
    type: { value: "TYPE", help: "secret (default) or publishable" },
    tenant: tenantOption,
    user: { value: "ID", help: "its owner (default: the tenant's first user)" },
    "expires-at": { value: "DATE", help: "ISO 8601 (default: in one year; at most two years)" },
    ...quotaOptions,
  },
  run(args) {
    const needsScopes = args.isSet("scopes") || args.text("type") !== "publishable";
    const scopes = needsScopes ? { scopes: args.list("scopes") } : {};
    return withTenant(args, async (context) => {
      const { store, engine, caller, apiKeys } = context;
      const ownerId = await findUser(store, caller.tenantId, args.text("user"));
      const written = await engine.create(caller, context.model(apiKeys), {
        name: args.required("name"),
        ...scopes,
        ...ifPresent("type", args.text("type")),
        ...ifPresent("expiresAt", args.timestamp("expires-at")),
        ...ifPresent("rateLimit", parseQuota(args)),
        ...ifPresent("ownerId", ownerId ?? undefined),
      });
      return keyOutput(written);
    });
  },
};

const keyList: Command = {
  name: "key list",
  summary: "List the keys of a tenant, newest first.",
  options: { tenant: tenantOption },
  async run(args) {
    const keys = await withTenant(args, (context) => context.newest(context.apiKeys));
    const rows = keys.map(
      ({ id, prefix, status, expiresAt, name, scopes }) =>
        `${id}  ${prefix}…  ${status.padEnd(13)}  until ${expiresAt?.slice(0, 10)}  ${name}  ${JSON.stringify(scopes)}`,
    );
    return {
      json: { keys },
      lines: rows.length > 0 ? rows : ["No keys yet. See portico key create --help"],
    };
  },
};

const keyUpdate: Command = {
  name: "key update",
  summary: "Update the name, scopes or quota of a key.",
  options: {
    name: { value: "NAME", help: "new label" },
    scopes: { value: "A,B", help: "new scopes; they replace the old ones" },
    tenant: tenantOption,
    ...quotaOptions,
  },
  positionals: ["ID"],
  run: (args) =>
    withTenant(args, async (context) => {
      const { engine, caller } = context;
      const keys = context.model(context.apiKeys);
      const changes = {
        ...ifPresent("name", args.text("name")),
        ...ifPresent("scopes", args.text("scopes") === undefined ? undefined : args.list("scopes")),
        ...ifPresent("rateLimit", parseQuota(args)),
      };
      if (Object.keys(changes).length === 0)
        throw new OperatorError("nothing to update; add --name, --scopes or --rate-limit");
      const key = JSON.parse((await engine.update(caller, keys, args.positionals[0]!, changes)).text);
      return { json: { key }, lines: [`Updated the key ${key.name} (${key.prefix}…).`] };
    }),
};

const keyRotate: Command = {
  name: "key rotate",
  summary: "Create a replacement for a key and print it once; the old key expires after the overlap.",
  options: {
    overlap: { value: "SECONDS", help: "how long the old key stays valid (default: 86400, a day)" },
    tenant: tenantOption,
  },
  positionals: ["ID"],
  run: (args) =>
    withTenant(args, async (context) => {
      const { engine, caller } = context;
      const keys = context.model(context.apiKeys);
      const rotations = keys.actions.get("rotations")!;
      const body = ifPresent("overlapSeconds", args.wholeNumber("overlap"));
      return keyOutput(await engine.runAction(caller, keys, args.positionals[0]!, rotations, body));
    }),
};

const keyRevoke: Command = {
  name: "key revoke",
  summary: "Revoke a key. The next request with it is refused.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  run: (args) =>
    withTenant(args, async (context) => {
      const [id = ""] = args.positionals;
      await context.engine.delete(context.caller, context.model(context.apiKeys), id);
      const key = await context.get(context.apiKeys, id);
      return {
        json: { key },
        lines: [`Revoked the key ${key.name} (${key.prefix}…) at ${key.revokedAt}.`],
      };
    }),
};

const keyRevokeAll: Command = {
  name: "key revoke-all",
  summary: "Revoke all keys of a tenant, or with --user those of one user.",
  options: {
    user: { value: "ID", help: "only the keys of this user" },
    tenant: { value: "ID", help: "the tenant (required if there are several, except with --user)" },
  },
  run: (args) =>
    withTenant(args, async (context) => {
      const { engine, caller, store } = context;
      const user = args.text("user");
      if (user === undefined) await requireNamedTenant(args, store);
      const keys = context.model(context.apiKeys);
      const owner = keys.attribute.get("ownerId")!;
      const container =
        user === undefined ? ({ by: "tenant", id: caller.tenantId } as const) : { by: owner, id: user };
      await engine.deleteAll(caller, keys, container);
      if (user === undefined)
        return {
          json: { tenantId: container.id },
          lines: [`Revoked all keys of the tenant ${container.id}.`],
        };
      return { json: { userId: user }, lines: [`Revoked all keys of the user ${user}.`] };
    }),
};

/** Prints a new key, which is shown only here. */
function keyOutput({ text, returnedOnce }: WriteResult): CommandOutput {
  const key = { ...JSON.parse(text), ...returnedOnce };
  return {
    json: key,
    lines: [key.key, "", `${keyWarning} Its id is ${key.id}; it expires on ${key.expiresAt}.`],
  };
}

/** `--rate-limit 1000/60` as in settings, or `--rate-limit 1000 --rate-window 60`. */
function parseQuota(args: Arguments): Quota | undefined {
  const windowSeconds = args.number("rate-window");
  const whole = args.text("rate-limit");
  if (whole?.includes("/")) {
    if (windowSeconds === undefined) return quota(whole, "--rate-limit");
    throw new OperatorError("--rate-limit already sets the seconds of the window; leave out --rate-window");
  }
  const limit = args.number("rate-limit");
  if (limit !== undefined) return { limit, windowSeconds: windowSeconds ?? 60 };
  if (windowSeconds !== undefined) throw new OperatorError("--rate-window needs --rate-limit");
  return undefined;
}

export const commands: readonly Command[] = [
  keyCreate,
  keyList,
  keyUpdate,
  keyRotate,
  keyRevoke,
  keyRevokeAll,
  keyUsage,
];
