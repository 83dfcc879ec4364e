// Bodies are held against the JSON Schema of their resource. Every fault of a body is told at once.

import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import { type FieldError, type Issue, OperatorError, Problem } from "../../errors.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import {
  attributeSchema,
  type BodySchemas,
  bodySchemas,
  isMergePatched,
  type JsonSchema,
} from "../../model/json-schema.ts";
import type { ActionModel, Attribute, Model, ResourceModel, Shape } from "../../model/model.ts";
import type { RowValues } from "../../query/write.ts";
import { boundKeywords } from "./bounded-keywords.ts";
import { withDerivedDefaults } from "./row-values.ts";

/** Deepest nesting of a JSON body. */
const maxJsonDepth = 32;
/** Characters of a member's name. */
const maxNameLength = 1_000;
/** Faults told of one body; more would only make the answer long. */
const maxDetails = 100;
/** Faults spelled out in the message. */
const maxErrorsInMessage = 5;

type Body = Record<string, unknown>;

export class BodyValidator {
  readonly #model: Model;
  /** It keeps what it has compiled by schema: those of writes that never come are not compiled. */
  readonly #ajv: Ajv;
  readonly #actions = new Map<ActionModel, BodySchemas>();

  constructor(model: Model) {
    this.#ajv = new Ajv({
      allErrors: true,
      strict: true,
      allowUnionTypes: true,
      ownProperties: true,
      useDefaults: false,
    });
    // The package is CommonJS; its function is the default export's default.
    (formats as unknown as typeof formats.default)(this.#ajv, ["email", "uri", "date-time"]);
    this.#ajv.addFormat("date-time", cachedDateTime(this.#ajv));
    boundKeywords(this.#ajv);
    this.#model = model;
    for (const resource of model.resources) {
      const { name, attributes, actions, schemas } = resource;
      refuseInvalidDefaults(this.#ajv, `resource ${name}, field `, attributes, schemas);
      for (const action of actions.values()) {
        const ofAction = bodySchemas(action);
        this.#actions.set(action, ofAction);
        refuseInvalidDefaults(
          this.#ajv,
          `resource ${name}, field ${action.name}.`,
          action.attributes,
          ofAction,
        );
      }
    }
  }

  /**
   * The body, known to fit.
   * @throws Problem `validation_error` with one detail for each fault
   */
  validate(resource: ResourceModel, operation: keyof BodySchemas, body: unknown): Body {
    const errors = schemaErrors(resource, this.#ajv.compile<Body>(resource.schemas[operation]), body);
    if (operation !== "hookResult") errors.push(...this.#customErrors(resource, operation, body, errors));
    if (errors.length === 0) return body as Body;
    throw new InvalidInput(errors);
  }

  /** The changes, whose JSON objects have been merged with those of the row. */
  validateMerged<V extends RowValues>(resource: ResourceModel, changes: V): V {
    const merged = resource.attributes.filter((each) => isMergePatched(each) && changes[each.name]);
    if (merged.length > 0)
      this.validate(
        resource,
        "hookResult",
        Object.fromEntries(merged.map(({ name }) => [name, changes[name]])),
      );
    return changes;
  }

  /** What an action is told; a body may be left out where nothing in it is required. */
  validateAction(action: ActionModel, body: unknown = {}): RowValues {
    const validate = this.#ajv.compile<Body>(this.#actions.get(action)!.create);
    const errors = schemaErrors(action, validate, body);
    if (errors.length > 0) throw new InvalidInput(errors);
    const filled = withDerivedDefaults(action, body as Body);
    const derived = filled ? schemaErrors(action, validate, filled) : [];
    if (derived.length > 0) throw new InvalidInput(derived);
    return filled ?? (body as Body);
  }

  /** The faults that the declaration itself finds in those members that have none yet. */
  #customErrors(
    resource: ResourceModel,
    operation: "create" | "replace" | "update",
    body: unknown,
    errors: readonly FieldError[],
  ): readonly FieldError[] {
    if (!resource.validate || errors.some(({ field }) => field === "")) return [];
    const valid = validMembers(body, errors);
    const context = { operation, now: new Date().toISOString(), scopes: this.#model.scopes };
    const isInvalid = (field: string): boolean =>
      Object.hasOwn(body as Body, field) && !Object.hasOwn(valid, field);
    return resource.validate(valid, context).filter(({ field }) => !isInvalid(field));
  }

  /** The same for a body that describes a whole row, with the defaults that are worked out from it. */
  validateWhole(resource: ResourceModel, operation: "create" | "replace", body: unknown): RowValues {
    const input = this.validate(resource, operation, body);
    const filled = withDerivedDefaults(resource, input, operation === "replace");
    return filled ? this.validate(resource, operation, filled) : input;
  }
}

function schemaErrors(shape: Shape, validate: ValidateFunction<Body>, body: unknown): FieldError[] {
  // First, because it bounds how deep and long what the schema looks at can be.
  const unstorable = [...unstorableTexts(body)];
  const errors = validate(body) ? [] : validate.errors!.map((error) => fieldErrorOf(shape, error));
  for (const fault of unstorable) {
    if (!errors.some(({ field }) => field === fault.field)) errors.push(fault);
  }
  return errors;
}

/** The format `date-time`, of moments that can be kept. */
function cachedDateTime({ formats }: Ajv): (text: string) => boolean {
  // The package gives this format as an object with a function.
  const { validate } = formats["date-time"] as { validate(text: string): boolean };
  return (text) => validate(text) && parseTimestamp(text) !== undefined;
}

/**
 * Schemas must be such, as parts of a body, and constant defaults must keep to them. `hooked` has every field that the
 * others have; of an object that is merged, what can be said of a change is a schema of its own.
 *
 * @param prefix what the name of a field is told with
 */
function refuseInvalidDefaults(
  ajv: Ajv,
  prefix: string,
  attributes: readonly Attribute[],
  { hookResult, update }: BodySchemas,
): void {
  const refuse = (name: string, remedy: string): never => {
    throw new OperatorError(`${prefix}${name}: ${remedy}`);
  };
  const fault =
    schemaCompileError(ajv, hookResult) ??
    (attributes.some(isMergePatched) ? schemaCompileError(ajv, update) : undefined);
  if (fault !== undefined) {
    for (const attribute of attributes) {
      const own = schemaCompileError(ajv, {
        properties: { [attribute.name]: attributeSchema(attribute) },
        type: "object",
      });
      if (own !== undefined) refuse(attribute.name, `its schema is faulty: ${own}`);
    }
    throw new OperatorError(`${prefix}${attributes.map(({ name }) => name).join(", ")}: ${fault}`);
  }
  const validate = ajv.compile<Body>(hookResult);
  if (validate(Object.fromEntries(attributes.flatMap(constantDefault)))) return;
  const [error] = validate.errors!;
  refuse(error!.instancePath.split("/")[1] ?? "", `its default ${messageOf(error!)}`);
}

function schemaCompileError(ajv: Ajv, schema: JsonSchema): string | undefined {
  try {
    ajv.compile(schema);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The name of a field with its default, where that is a value of JSON. */
function constantDefault({ name, field }: Attribute): [string, unknown][] {
  const value = "default" in field.options ? field.options.default : undefined;
  if (value === undefined || typeof value === "function") return [];
  return field.kind === "timestamp" || field.kind === "belongsTo" ? [] : [[name, value]];
}

/** One problem for many faults, the first of which stand in the message. */
export class InvalidInput extends Problem {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    const unique = [...new Map(errors.map((each) => [`${each.field} ${each.issue}`, each])).values()];
    const sentences = unique
      .slice(0, maxErrorsInMessage)
      .map(({ field, text }) => `${field || "The body"} ${text}.`);
    const more =
      unique.length > maxErrorsInMessage ? [`And ${unique.length - maxErrorsInMessage} more.`] : [];
    const details = unique.slice(0, maxDetails).map(({ field, issue }) => ({ field, issue }));
    super("validation_error", [...sentences, ...more].join(" "), details);
    this.errors = errors;
  }
}

/** The members of a body in which no fault was found. */
export function validMembers(body: unknown, errors: readonly FieldError[]): Body {
  if (errors.some(({ field }) => field === "")) return {};
  const invalid = new Set(errors.map(({ field }) => field.split(".")[0]));
  return Object.fromEntries(Object.entries(body as Body).filter(([name]) => !invalid.has(name)));
}

const issueOfKeyword: Readonly<Record<string, Issue>> = {
  required: "required",
  type: "type",
  minLength: "min",
  minimum: "min",
  maxLength: "max",
  maximum: "max",
  format: "format",
  pattern: "format",
  enum: "choice",
  minItems: "min",
  maxItems: "max",
  uniqueItems: "duplicate",
};

function fieldErrorOf(shape: Shape, error: ErrorObject): FieldError {
  // A JSON pointer (RFC 6901, section 3) with dots for its slashes.
  const names = error.instancePath.slice(1).replaceAll("/", ".");
  const path = names.replaceAll("~1", "/").replaceAll("~0", "~");
  const named = error.params.additionalProperty ?? error.params.missingProperty;
  const field = named === undefined ? path : [path, named].filter(Boolean).join(".");
  if (error.keyword === "additionalProperties") return unknownField(shape, field);
  return { field, issue: issueOfKeyword[error.keyword] ?? "format", text: messageOf(error) };
}

function unknownField({ attribute, name }: Shape, field: string): FieldError {
  const known = attribute.get(field);
  if (known?.isImmutable) return { field, issue: "read_only", text: "is given once and cannot be changed" };
  if (known && !known.isInternal)
    return { field, issue: "read_only", text: "is set by the server and cannot be given" };
  return { field: field.slice(0, 100), issue: "unknown", text: `is not a field of ${name}` };
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case "required":
      return "is required";
    case "type":
      return `must be ${[params.type].flat().map(typeName).join(" or ")}`;
    case "minLength":
      return params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} characters`;
    case "maxLength":
      return `must have at most ${params.limit} characters`;
    case "enum":
      return `must be one of ${params.allowedValues.join(", ")}`;
    case "uniqueItems":
      return "holds the same value twice";
    case "format":
      return `must be a valid ${params.format}`;
    case "pattern":
      return `must match ${params.pattern}`;
    default:
      return message ?? "is not valid";
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
};

function typeName(type: string): string {
  return typeNames[type] ?? type;
}

/** Values that a database cannot hold: lone surrogates (no UTF-8), the character U+0000, infinite numbers. */
function* unstorableTexts(value: unknown, path: readonly string[] = []): Generator<FieldError> {
  if (typeof value === "string") {
    if (!isStorable(value))
      yield { field: path.join("."), issue: "format", text: "holds a character that cannot be stored" };
    return;
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    yield { field: path.join("."), issue: "max", text: "is a larger number than can be stored" };
  }
  if (typeof value !== "object" || value === null) return;
  if (path.length >= maxJsonDepth) {
    throw new Problem("malformed_request", `The body is nested more than ${maxJsonDepth} levels deep.`);
  }
  for (const [key, inner] of Object.entries(value)) {
    if (key.length > maxNameLength) {
      throw new Problem("malformed_request", `A member has a name of more than ${maxNameLength} characters.`);
    }
    if (!isStorable(key))
      yield { field: path.join("."), issue: "format", text: "has a name that cannot be stored" };
    yield* unstorableTexts(inner, [...path, key]);
  }
}

/** Whether a text is well-formed Unicode without U+0000. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
