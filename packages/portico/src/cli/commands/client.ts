// portico client create, list, rotate, remove

import type { Model } from "../../declare/model.ts";
import type { Written } from "../../engine/writing.ts";
import { OperatorError } from "../../errors.ts";
import { oauthClients } from "../../identity/oauth-client-resource.ts";
import { openIdScopes } from "../../identity/oauth-client-rules.ts";
import type { Command, Outcome } from "../command.ts";
import { forTenant, optional, tenantOption } from "../tenant-work.ts";

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
  run: (given) =>
    forTenant(given, async (place) => {
      const { engine, caller } = place;
      const clients = place.model(oauthClients);
      const list = (name: string) => (given.text(name) === undefined ? undefined : given.list(name));
      const redirectUris = given.all("redirect-uri");
      const written = await engine.create(caller, clients, {
        name: given.required("name"),
        type: given.required("type"),
        scopes: list("scopes") ?? standardScopes(engine.model),
        ...(redirectUris.length > 0 && { redirectUris }),
        ...optional("grantTypes", grantTypesOf(list("grant-types"))),
        ...optional("authMethod", given.text("auth-method")),
        ...optional("jwks", jwksOf(given.text("jwks"))),
        ...optional("jwksUri", given.text("jwks-uri")),
        ...(given.isSet("first-party") && { requiresConsent: false }),
        ...(given.isSet("resource-server") && { mayIntrospect: true }),
      });
      return shownOnce(written);
    }),
};

const clientList: Command = {
  name: "client list",
  summary: "Show the OAuth clients of a tenant, newest first.",
  options: { tenant: tenantOption },
  async run(given) {
    const clients = await forTenant(given, (place) => place.newest(oauthClients));
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
  run: (given) =>
    forTenant(given, async (place) => {
      const { engine, caller } = place;
      const clients = place.model(oauthClients);
      const rotations = clients.actions.get("rotations")!;
      const body = optional("overlapSeconds", given.wholeNumber("overlap"));
      return shownOnce(await engine.act(caller, clients, given.positionals[0]!, rotations, body));
    }),
};

const clientRemove: Command = {
  name: "client remove",
  summary: "Remove a client; its tokens are refused within a second.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  run: (given) =>
    forTenant(given, async (place) => {
      const { engine, caller } = place;
      const clients = place.model(oauthClients);
      const [id = ""] = given.positionals;
      await engine.remove(caller, clients, id);
      return { json: { removed: id }, lines: [`The client ${id} is removed.`] };
    }),
};

/** Where nothing is said: what people expect of an application, without the management of keys and clients. */
function standardScopes({ scopes }: Model): readonly string[] {
  const ofRows = scopes.filter((scope) => !/^(keys|clients):/.test(scope));
  return [...openIdScopes, ...ofRows];
}

/** `device_code` is short for the URN that OAuth calls it by (RFC 8628). */
function grantTypesOf(given: readonly string[] | undefined): readonly string[] | undefined {
  return given?.map((name) =>
    name === "device_code" ? "urn:ietf:params:oauth:grant-type:device_code" : name,
  );
}

function jwksOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new OperatorError('--jwks is no JSON; write {"keys": [...]}');
  }
}

/** A client or a secret that was made just now: the secret is printed, and never again. */
function shownOnce({ text, revealed }: Written): Outcome {
  const made = { ...JSON.parse(text), ...revealed };
  const { id, clientId, clientSecret, warning } = made;
  const secret = clientSecret === undefined ? [] : [`clientSecret ${clientSecret}`, "", warning];
  return { json: made, lines: [`clientId     ${clientId}`, ...secret, `Its id is ${id}.`] };
}

export const commands: readonly Command[] = [clientCreate, clientList, clientRotate, clientRemove];
