// Bodies are held against the JSON Schema of their resource. Every fault of a body is told at once.

import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { ActionModel, Attribute, Described, Model, ResourceModel } from "../declare/model.ts";
import { attributeSchema, type BodySchemas, bodySchemas, isMerged } from "../declare/schema.ts";
import { type Fault, type Issue, OperatorError, Problem } from "../errors.ts";
import type { RowValues } from "../plan/write.ts";
import { withConstantDefaults, withDerivedDefaults } from "./row-values.ts";

/** Deepest nesting of a JSON body. */
const deepestJson = 32;
/** Faults told of one body; more would only make the answer long. */
const mostDetails = 100;
/** Faults spelled out in the message. */
const mostInMessage = 5;

type Body = Record<string, unknown>;

export class BodyValidator {
  readonly #model: Model;
  readonly #validators = new Map<ResourceModel, Record<keyof BodySchemas, ValidateFunction<Body>>>();
  readonly #actions = new Map<ActionModel, ValidateFunction<Body>>();

  constructor(model: Model) {
    const ajv = new Ajv({
      allErrors: true,
      strict: true,
      allowUnionTypes: true,
      ownProperties: true,
      useDefaults: false,
    });
    // The package is CommonJS; its function is the default export's default.
    (formats as unknown as typeof formats.default)(ajv, ["email", "uri", "date-time"]);
    this.#model = model;
    for (const resource of model.resources) {
      this.#validators.set(resource, {
        create: ajv.compile<Body>(resource.schemas.create),
        replace: ajv.compile<Body>(resource.schemas.replace),
        change: ajv.compile<Body>(resource.schemas.change),
        hooked: ajv.compile<Body>(resource.schemas.hooked),
      });
      for (const attribute of resource.attributes) refuseFaultyDefault(ajv, resource, attribute);
      for (const action of resource.actions.values()) {
        this.#actions.set(action, ajv.compile<Body>(bodySchemas(action).create));
      }
    }
  }

  /**
   * The body, known to fit.
   * @throws Problem `validation_error` with one detail for each fault
   */
  check(resource: ResourceModel, operation: keyof BodySchemas, body: unknown): Body {
    const faults = faultsOf(resource, this.#validators.get(resource)![operation], body);
    if (operation !== "hooked") faults.push(...this.#otherFaults(resource, operation, body, faults));
    if (faults.length === 0) return body as Body;
    throw validationProblem(faults);
  }

  /** The changes, whose JSON objects have been merged with those of the row. */
  checkMerged<V extends RowValues>(resource: ResourceModel, changes: V): V {
    const merged = resource.attributes.filter((each) => isMerged(each) && changes[each.name]);
    if (merged.length > 0)
      this.check(resource, "hooked", Object.fromEntries(merged.map(({ name }) => [name, changes[name]])));
    return changes;
  }

  /** What an action is told; a body may be left out where nothing in it is required. */
  checkAction(action: ActionModel, body: unknown): Body {
    const faults = faultsOf(action, this.#actions.get(action)!, body ?? {});
    if (faults.length > 0) throw validationProblem(faults);
    return withConstantDefaults(action, (body ?? {}) as Body);
  }

  /** The faults that the declaration itself finds in those members that have none yet. */
  #otherFaults(
    resource: ResourceModel,
    operation: "create" | "replace" | "change",
    body: unknown,
    faults: readonly Fault[],
  ): readonly Fault[] {
    if (!resource.check || faults.some(({ field }) => field === "")) return [];
    const faulty = new Set(faults.map(({ field }) => field.split(".")[0]));
    const sound = Object.entries(body as Body).filter(([name]) => !faulty.has(name));
    const context = { operation, now: new Date().toISOString(), scopes: this.#model.scopes };
    return resource.check(Object.fromEntries(sound), context).filter(({ field }) => !faulty.has(field));
  }

  /** The same for a body that describes a whole row, with the defaults that are worked out from it. */
  checkWhole(resource: ResourceModel, operation: "create" | "replace", body: unknown): RowValues {
    const input = this.check(resource, operation, body);
    const filled = withDerivedDefaults(resource, input);
    return filled ? this.check(resource, operation, filled) : input;
  }
}

function faultsOf(described: Described, validate: ValidateFunction<Body>, body: unknown): Fault[] {
  const faults = validate(body) ? [] : validate.errors!.map((error) => faultOf(described, error));
  for (const fault of unstorableValues(body)) {
    if (!faults.some(({ field }) => field === fault.field)) faults.push(fault);
  }
  return faults;
}

/** A constant default must keep to the rules of its own field. */
function refuseFaultyDefault(ajv: Ajv, { name }: ResourceModel, attribute: Attribute): void {
  const { field } = attribute;
  const standard = "default" in field.options ? field.options.default : undefined;
  if (standard === undefined || typeof standard === "function") return;
  if (field.kind === "timestamp" || field.kind === "belongsTo") return;
  if (ajv.validate(attributeSchema(attribute), standard)) return;
  const fault = textOf(ajv.errors![0]!);
  throw new OperatorError(`resource ${name}, field ${attribute.name}: its default ${fault}`);
}

/** One problem for many faults, the first of which stand in the message. */
export function validationProblem(faults: readonly Fault[]): Problem {
  const unique = [...new Map(faults.map((fault) => [`${fault.field} ${fault.issue}`, fault])).values()];
  const sentences = unique
    .slice(0, mostInMessage)
    .map(({ field, text }) => `${field || "The body"} ${text}.`);
  const more = unique.length > mostInMessage ? [`And ${unique.length - mostInMessage} more.`] : [];
  const details = unique.slice(0, mostDetails).map(({ field, issue }) => ({ field, issue }));
  return new Problem("validation_error", [...sentences, ...more].join(" "), details);
}

const issues: Readonly<Record<string, Issue>> = {
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

function faultOf(described: Described, error: ErrorObject): Fault {
  const place = error.instancePath.slice(1).replaceAll("/", ".");
  const named = error.params.additionalProperty ?? error.params.missingProperty;
  const field = named === undefined ? place : [place, named].filter(Boolean).join(".");
  if (error.keyword === "additionalProperties") return unknownField(described, field);
  return { field, issue: issues[error.keyword] ?? "format", text: textOf(error) };
}

function unknownField({ attribute, name }: Described, field: string): Fault {
  const known = attribute.get(field);
  if (known?.isFixed) return { field, issue: "read_only", text: "is given once and cannot be changed" };
  if (known && !known.isInternal)
    return { field, issue: "read_only", text: "is set by the server and cannot be given" };
  return { field: field.slice(0, 100), issue: "unknown", text: `is not a field of ${name}` };
}

function textOf({ keyword, params, message }: ErrorObject): string {
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
function* unstorableValues(value: unknown, path: readonly string[] = []): Generator<Fault> {
  if (typeof value === "string") {
    if (!isStorable(value))
      yield { field: path.join("."), issue: "format", text: "holds a character that cannot be stored" };
    return;
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    yield { field: path.join("."), issue: "max", text: "is a larger number than can be stored" };
  }
  if (typeof value !== "object" || value === null) return;
  if (path.length >= deepestJson) {
    throw new Problem("malformed_request", `The body is nested more than ${deepestJson} levels deep.`);
  }
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key))
      yield { field: path.join("."), issue: "format", text: "has a name that cannot be stored" };
    yield* unstorableValues(inner, [...path, key]);
  }
}

/** Whether a text is well-formed Unicode without U+0000. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
