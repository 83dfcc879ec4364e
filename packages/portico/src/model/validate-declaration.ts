// Checks what a declaration alone shows. An error stops the start with one line: resource, field, remedy.

import { renameHint } from "../declare/renamed-options.ts";
import { operationNames, type Resource } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import { validateIndexOptions } from "./indexes.ts";
import { validatePolicyOptions } from "./policy.ts";
import { validatePublicOptions } from "./public.ts";
import { validateBehaviour, validateInputField } from "./validate-behaviour.ts";
import { validateDeprecation, validateField } from "./validate-field.ts";

/** Query parameters that no field may be named after. */
const reservedParameters = ["sort", "limit", "cursor", "direction", "page", "perPage", "fields", "q"];
const serverManagedFields = ["id", "createdAt", "updatedAt"];

const namePattern = /^[a-z][a-zA-Z0-9]{0,40}$/;
const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** @throws OperatorError with one line: resource, field and remedy */
export function validateDeclaration({ name, declaration }: Resource): void {
  const refuse = (field: string, remedy: string): never => {
    throw new OperatorError(`resource ${name}${field && `, field ${field}`}: ${remedy}`);
  };
  if (!namePattern.test(name)) refuse("", "write the name as one word in camelCase, for example apiKey");
  validateOptions(declaration, (remedy) => refuse("", remedy));
  for (const scope of Object.values(declaration.scopes ?? {})) {
    if (!scopePattern.test(scope))
      refuse("", `the scope '${scope}' has a character that RFC 6749 does not allow`);
  }
  for (const [field, shape] of Object.entries(declaration.fields)) {
    if (!namePattern.test(field)) refuse(field, "write the name as one word in camelCase, for example dueAt");
    if (serverManagedFields.includes(field))
      refuse(field, "id, createdAt and updatedAt are added automatically; remove it");
    if (reservedParameters.includes(field)) refuse(field, "this name is a query parameter; choose another");
    validateField(shape, (remedy) => refuse(field, remedy));
    if (!isFormerName("was" in shape.options ? shape.options.was : field))
      refuse(field, 'was is the first name that the field had: was: "title"');
  }
  validateBehaviour(declaration, (remedy) => refuse("", remedy));
  for (const [segment, { input, verb = "do" }] of Object.entries(declaration.actions ?? {})) {
    if (!namePattern.test(verb))
      refuse("", `write the verb of the action ${segment} in camelCase, for example renew`);
    for (const [field, shape] of Object.entries(input)) {
      const path = `${segment}.${field}`;
      if (!namePattern.test(field))
        refuse(path, "write the name as one word in camelCase, for example dueAt");
      validateField(shape, (remedy) => refuse(path, remedy));
      validateInputField(shape, (remedy) => refuse(path, remedy));
    }
  }
  validateDeprecation(declaration.deprecated, (remedy) => refuse("", remedy));
}

const declarationOptions = [
  "fields plural was parent filter sort search unique indexes scopes version paging policy inheritPolicy hooks validate markOnDelete actions nestedUnder exposed operations events idempotencyKey public whenReferenced description deprecated",
].flatMap((names) => names.split(" "));

function isFormerName(was: unknown): boolean {
  return typeof was === "string" && namePattern.test(was) && !serverManagedFields.includes(was);
}

function validateStoredName(was: unknown, refuse: (remedy: string) => never): void {
  const names: readonly [string, unknown][] =
    typeof was === "object" && was !== null ? Object.entries(was) : [["name", was]];
  const isValid = names.every(
    ([key, name]) => ["name", "plural"].includes(key) && typeof name === "string" && namePattern.test(name),
  );
  if (!isValid || names.length === 0 || (typeof was === "object" && names.length < 2))
    refuse('write was as the first name of the resource, "person", or { name: "person", plural: "people" }');
}

/** Checks what the compiler checks as well, for projects that are not compiled. */
function validateOptions(declaration: Resource["declaration"], refuse: (remedy: string) => never): void {
  const unknown = Object.keys(declaration).find((option) => !declarationOptions.includes(option));
  if (unknown !== undefined)
    refuse(
      renameHint("resource", unknown) ??
        `unknown option ${unknown}; use some of ${declarationOptions.join(", ")}`,
    );
  const { plural, version, paging = "cursor", scopes, hooks, fields, operations } = declaration;
  if (typeof fields !== "object" || fields === null)
    refuse("fields is missing; write fields: { title: text() }");
  if (plural !== undefined && !namePattern.test(plural)) refuse("write plural as one word in camelCase");
  if ("was" in declaration) validateStoredName(declaration.was, refuse);
  if (version !== undefined && !/^v\d{1,4}$/.test(version)) refuse("write version as v1, v2 and so on");
  if (!["cursor", "page"].includes(paging)) refuse("paging is cursor or page");
  if (scopes && !(scopes.read && scopes.write)) refuse("scopes needs both read and write");
  validatePolicyOptions(declaration, refuse);
  validateIndexOptions(declaration, refuse);
  if (operations && !(operations.length > 0 && operations.every((each) => operationNames.includes(each))))
    refuse(
      operations.map((each) => renameHint("operation", each)).find((hint) => hint !== undefined) ??
        `operations is a list of some of ${operationNames.join(", ")}`,
    );
  validatePublicOptions(declaration, refuse);
  const { whenReferenced = "Archive it." } = declaration;
  if (typeof whenReferenced !== "string" || whenReferenced === "")
    refuse('whenReferenced is a sentence for callers: "Archive it instead."');
  for (const [phase, operationHooks] of Object.entries(hooks ?? {})) {
    const isKnown = ["before", "after"].includes(phase);
    const unknownHook = Object.keys(operationHooks ?? {}).find(
      (name) => !["create", "update", "delete"].includes(name),
    );
    if (!isKnown || unknownHook !== undefined) {
      refuse(
        (isKnown && renameHint("operation", unknownHook!)) ||
          `there is no hook ${phase}${isKnown ? `.${unknownHook}` : ""}; use before or after create, update, delete`,
      );
    }
  }
}
