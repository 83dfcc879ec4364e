// Checks what a declaration alone shows. An error stops the start with one line: resource, field, remedy.

import { renameHint } from "../declare/renamed-options.ts";
import { operationNames, type Resource } from "../declare/resource.ts";
import { versionPattern } from "../declare/versions.ts";
import { OperatorError } from "../errors.ts";
import { validateIndexOptions } from "./indexes.ts";
import { validateToolOptions } from "./offered-tools.ts";
import { validatePolicyOptions } from "./policy.ts";
import { validatePublicOptions } from "./public.ts";
import { validateAnswerField, validateBehaviour, validateInputField } from "./validate-behaviour.ts";
import { validateDeprecation, validateField } from "./validate-field.ts";

/** Query parameters that no field may be named after. */
export const reservedParameters = ["sort", "limit", "cursor", "direction", "page", "perPage", "fields", "q"];
export const serverManagedFields = ["id", "createdAt", "updatedAt"];

export const namePattern = /^[a-z][a-zA-Z0-9]{0,40}$/;
export const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

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
  for (const [segment, { input, verb = "do", answer = {}, deprecated }] of Object.entries(
    declaration.actions ?? {},
  )) {
    validateDeprecation(deprecated, (remedy) => refuse("", `action ${segment}: ${remedy}`));
    if (!namePattern.test(verb))
      refuse("", `write the verb of the action ${segment} in camelCase, for example renew`);
    for (const [fields, validate] of [
      [input, validateInputField],
      [answer, validateAnswerField],
    ] as const)
      for (const [field, shape] of Object.entries(fields)) {
        const path = `${segment}.${field}`;
        if (!namePattern.test(field))
          refuse(path, "write the name as one word in camelCase, for example dueAt");
        validateField(shape, (remedy) => refuse(path, remedy));
        validate(shape, (remedy) => refuse(path, remedy));
      }
  }
  validateDeprecation(declaration.deprecated, (remedy) => refuse("", remedy));
  for (const [operation, deprecation] of Object.entries(declaration.deprecatedOperations ?? {})) {
    if (!(declaration.operations ?? operationNames).some((name) => name === operation))
      refuse(
        "",
        `deprecatedOperations names ${operation}, which is not one of its operations; actions have the option deprecated`,
      );
    validateDeprecation(deprecation, (remedy) => refuse("", `${operation}: ${remedy}`));
  }
}

const declarationOptions = [
  "fields plural was parent filter sort search unique indexes scopes version versions paging policy inheritPolicy hooks validate markOnDelete softDelete actions nestedUnder exposed operations events idempotencyKey public whenReferenced mcp description deprecated deprecatedOperations",
  "returnsOnce",
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
  if (version !== undefined && !versionPattern.test(version)) refuse("write version as v1, v2 and so on");
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
  validateToolOptions(declaration, refuse);
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
