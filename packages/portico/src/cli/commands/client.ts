// portico client create, list, rotate, remove

import { oauthClients } from "../../auth/clients/resource.ts";
import { openIdScopes } from "../../auth/clients/rules.ts";
import type { WriteResult } from "../../engine/write-transaction.ts";
import { OperatorError } from "../../errors.ts";
import type { Model } from "../../model/model.ts";
import type { Command, CommandOutput } from "../command.ts";
import { ifPresent, tenantOption, withTenant } from "../tenant-work.ts";

const clientCreate: Command = {
  name: "client create",
  summary: "Make an OAuth client and print its id and, this once only, its secret.",
  options: {
    name: { value: "NAME", help: "how people are told who asks", isRequired: true },
    type: { value: "TYPE", help: "public or confidential", isRequired: true },
    "redirect-uri": { value: "URI", help: "where answers go; may stand several times", isRepeated: true },
    "grant-types": { value: "A,B", help: "authorization_code,refresh_token or client_credentials ..." },
    scopes: { value: "A,B", help: "the most that it may ask for" },
    "auth-method": { value: "NAME", help: "client_secret_basic (the default), _post, private_key_jwt" },
    jwks: { value: "JSON", help: "its public keys, for private_key_jwt" },
    "jwks-uri": { value: "URL", help: "where its public keys are, instead of --jwks" },
    "first-party": { help: "one's own application: people are not asked" },
    "resource-server": { help: "it may introspect every token of the tenant" },
    tenant: tenantOption,
  },
  run: (args) =>
    withTenant(args, async (context) => {
      const { engine, caller } = context;
      const clients = context.model(oauthClients);
      const list = (name: string) => (args.text(name) === undefined ? undefined : args.list(name));
      const redirectUris = args.all("redirect-uri");
      const written = await engine.create(caller, clients, {
        name: args.required("name"),
        type: args.required("type"),
        scopes: list("scopes") ?? defaultScopes(engine.model),
        ...(redirectUris.length > 0 && { redirectUris }),
        ...ifPresent("grantTypes", parseGrantTypes(list("grant-types"))),
        ...ifPresent("authMethod", args.text("auth-method")),
        ...ifPresent("jwks", parseJwks(args.text("jwks"))),
        ...ifPresent("jwksUri", args.text("jwks-uri")),
        ...(args.isSet("first-party") && { requiresConsent: false }),
        ...(args.isSet("resource-server") && { mayIntrospect: true }),
      });
      return secretOutput(written);
    }),
};

const clientList: Command = {
  name: "client list",
  summary: "Show the OAuth clients of a tenant, newest first.",
  options: { tenant: tenantOption },
  async run(args) {
    const clients = await withTenant(args, (context) => context.newest(oauthClients));
    const rows = clients.map(
      ({ id, clientId, type, name, scopes }) =>
        `${id}  ${clientId}  ${type.padEnd(12)}  ${name}  ${JSON.stringify(scopes)}`,
    );
    return {
      json: { clients },
      lines: rows.length > 0 ? rows : ["There is no client yet; see: portico client create --help"],
    };
  },
};

const clientRotate: Command = {
  name: "client rotate",
  summary: "Make a new secret for a client and print it, this once only; the old one ends after the overlap.",
  options: {
    overlap: { value: "SECONDS", help: "how long the old secret stays valid; a day, when left out" },
    tenant: tenantOption,
  },
  positionals: ["ID"],
  run: (args) =>
    withTenant(args, async (context) => {
      const { engine, caller } = context;
      const clients = context.model(oauthClients);
      const rotations = clients.actions.get("rotations")!;
      const body = ifPresent("overlapSeconds", args.wholeNumber("overlap"));
      return secretOutput(await engine.runAction(caller, clients, args.positionals[0]!, rotations, body));
    }),
};

const clientDelete: Command = {
  name: "client remove",
  summary: "Remove a client; its tokens are refused within a second.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  run: (args) =>
    withTenant(args, async (context) => {
      const { engine, caller } = context;
      const clients = context.model(oauthClients);
      const [id = ""] = args.positionals;
      await engine.delete(caller, clients, id);
      return { json: { removed: id }, lines: [`The client ${id} is removed.`] };
    }),
};

/** Where nothing is said: what people expect of an application, without the management of keys and clients. */
function defaultScopes({ scopes }: Model): readonly string[] {
  const ofRows = scopes.filter((scope) => !/^(keys|clients):/.test(scope));
  return [...openIdScopes, ...ofRows];
}

/** `device_code` is short for the URN that OAuth calls it by (RFC 8628). */
function parseGrantTypes(args: readonly string[] | undefined): readonly string[] | undefined {
  return args?.map((name) =>
    name === "device_code" ? "urn:ietf:params:oauth:grant-type:device_code" : name,
  );
}

function parseJwks(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new OperatorError('--jwks is no JSON; write {"keys": [...]}');
  }
}

/** A client or a secret that was made just now: the secret is printed, and never again. */
function secretOutput({ text, returnedOnce }: WriteResult): CommandOutput {
  const client = { ...JSON.parse(text), ...returnedOnce };
  const { id, clientId, clientSecret, warning } = client;
  const secret = clientSecret === undefined ? [] : [`clientSecret ${clientSecret}`, "", warning];
  return { json: client, lines: [`clientId     ${clientId}`, ...secret, `Its id is ${id}.`] };
}

export const commands: readonly Command[] = [clientCreate, clientList, clientRotate, clientDelete];
