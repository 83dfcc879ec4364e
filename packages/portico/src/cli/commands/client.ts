// portico client create, list, rotate, delete

import { oauthClients } from "../../auth/clients/resource.ts";
import { openIdScopes } from "../../auth/clients/rules.ts";
import type { WriteResult } from "../../engine/write-result.ts";
import { OperatorError } from "../../errors.ts";
import type { Model } from "../../model/model.ts";
import type { Command, CommandOutput } from "../command.ts";
import { ifPresent, tenantOption, withTenant } from "../tenant-work.ts";

const clientCreate: Command = {
  name: "client create",
  summary: "Create an OAuth client and print its id and its secret, which is shown only once.",
  options: {
    name: { value: "NAME", help: "shown to people when the client asks for access", isRequired: true },
    type: { value: "TYPE", help: "public or confidential", isRequired: true },
    "redirect-uri": { value: "URI", help: "a redirect URI; repeat the option for several", isRepeated: true },
    "grant-types": {
      value: "A,B",
      help: "authorization_code, refresh_token, client_credentials, device_code",
    },
    scopes: { value: "A,B", help: "scopes that it may request" },
    "auth-method": {
      value: "NAME",
      help: "client_secret_basic (default), client_secret_post or private_key_jwt",
    },
    jwks: { value: "JSON", help: "its public keys as a JSON Web Key Set, for private_key_jwt" },
    "jwks-uri": { value: "URL", help: "URL of its JSON Web Key Set, instead of --jwks" },
    "first-party": { help: "a trusted application: people are not asked for consent" },
    "resource-server": { help: "allow it to introspect every token of the tenant" },
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
  summary: "List the OAuth clients of a tenant, newest first.",
  options: { tenant: tenantOption },
  async run(args) {
    const clients = await withTenant(args, (context) => context.newest(oauthClients));
    const rows = clients.map(
      ({ id, clientId, type, name, scopes }) =>
        `${id}  ${clientId}  ${type.padEnd(12)}  ${name}  ${JSON.stringify(scopes)}`,
    );
    return {
      json: { clients },
      lines: rows.length > 0 ? rows : ["No clients yet. See portico client create --help"],
    };
  },
};

const clientRotate: Command = {
  name: "client rotate",
  summary: "Create a new secret for a client and print it once; the old one expires after the overlap.",
  options: {
    overlap: { value: "SECONDS", help: "how long the old secret stays valid (default: 86400, a day)" },
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
  name: "client delete",
  summary: "Delete a client. Its tokens are refused within a second.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  run: (args) =>
    withTenant(args, async (context) => {
      const { engine, caller } = context;
      const clients = context.model(oauthClients);
      const [id = ""] = args.positionals;
      await engine.delete(caller, clients, id);
      return { json: { deleted: id }, lines: [`Deleted the client ${id}.`] };
    }),
};

/** The scopes of a client created without --scopes: all but those that manage keys and clients. */
function defaultScopes({ scopes }: Model): readonly string[] {
  const apiScopes = scopes.filter((scope) => !/^(keys|clients):/.test(scope));
  return [...openIdScopes, ...apiScopes];
}

/** Expands `device_code` to the URN of that grant type (RFC 8628, section 3.4). */
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
    throw new OperatorError('--jwks is not JSON; write {"keys": [...]}');
  }
}

/** Prints a new client or secret. The secret is shown only here. */
function secretOutput({ text, returnedOnce }: WriteResult): CommandOutput {
  const client = { ...JSON.parse(text), ...returnedOnce };
  const { id, clientId, clientSecret, warning } = client;
  const secret = clientSecret === undefined ? [] : [`clientSecret ${clientSecret}`, "", warning];
  return { json: client, lines: [`clientId     ${clientId}`, ...secret, `Its id is ${id}.`] };
}

export const commands: readonly Command[] = [clientCreate, clientList, clientRotate, clientDelete];
