// Bodies are held against the JSON Schema of their resource. Every fault of a body is told at once.

import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { ActionModel, Attribute, Described, Model, ResourceModel } from "../declare/model.ts";
import { moment } from "../declare/moment.ts";
import {
  attributeSchema,
  type BodySchemas,
  bodySchemas,
  isMerged,
  type JsonSchema,
} from "../declare/schema.ts";
import { type Fault, type Issue, OperatorError, Problem } from "../errors.ts";
import type { RowValues } from "../plan/write.ts";
import { boundKeywords } from "./bounded-keywords.ts";
import { withDerivedDefaults } from "./row-values.ts";

/** Deepest nesting of a JSON body. */
const deepestJson = 32;
/** Characters of a member's name. */
const longestName = 1_000;
/** Faults told of one body; more would only make the answer long. */
const mostDetails = 100;
/** Faults spelled out in the message. */
const mostInMessage = 5;

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
    this.#ajv.addFormat("date-time", keptDateTime(this.#ajv));
    boundKeywords(this.#ajv);
    this.#model = model;
    for (const resource of model.resources) {
      const { name, attributes, actions, schemas } = resource;
      refuseFaulty(this.#ajv, `resource ${name}, field `, attributes, schemas);
      for (const action of actions.values()) {
        const ofAction = bodySchemas(action);
        this.#actions.set(action, ofAction);
        refuseFaulty(this.#ajv, `resource ${name}, field ${action.name}.`, action.attributes, ofAction);
      }
    }
  }

  /**
   * The body, known to fit.
   * @throws Problem `validation_error` with one detail for each fault
   */
  check(resource: ResourceModel, operation: keyof BodySchemas, body: unknown): Body {
    const faults = faultsOf(resource, this.#ajv.compile<Body>(resource.schemas[operation]), body);
    if (operation !== "hooked") faults.push(...this.#otherFaults(resource, operation, body, faults));
    if (faults.length === 0) return body as Body;
    throw new FaultyInput(faults);
  }

  /** The changes, whose JSON objects have been merged with those of the row. */
  checkMerged<V extends RowValues>(resource: ResourceModel, changes: V): V {
    const merged = resource.attributes.filter((each) => isMerged(each) && changes[each.name]);
    if (merged.length > 0)
      this.check(resource, "hooked", Object.fromEntries(merged.map(({ name }) => [name, changes[name]])));
    return changes;
  }

  /** What an action is told; a body may be left out where nothing in it is required. */
  checkAction(action: ActionModel, body: unknown = {}): RowValues {
    const validate = this.#ajv.compile<Body>(this.#actions.get(action)!.create);
    const faults = faultsOf(action, validate, body);
    if (faults.length > 0) throw new FaultyInput(faults);
    const filled = withDerivedDefaults(action, body as Body);
    const derived = filled ? faultsOf(action, validate, filled) : [];
    if (derived.length > 0) throw new FaultyInput(derived);
    return filled ?? (body as Body);
  }

  /** The faults that the declaration itself finds in those members that have none yet. */
  #otherFaults(
    resource: ResourceModel,
    operation: "create" | "replace" | "change",
    body: unknown,
    faults: readonly Fault[],
  ): readonly Fault[] {
    if (!resource.check || faults.some(({ field }) => field === "")) return [];
    const sound = soundMembers(body, faults);
    const context = { operation, now: new Date().toISOString(), scopes: this.#model.scopes };
    const isFaulty = (field: string): boolean =>
      Object.hasOwn(body as Body, field) && !Object.hasOwn(sound, field);
    return resource.check(sound, context).filter(({ field }) => !isFaulty(field));
  }

  /** The same for a body that describes a whole row, with the defaults that are worked out from it. */
  checkWhole(resource: ResourceModel, operation: "create" | "replace", body: unknown): RowValues {
    const input = this.check(resource, operation, body);
    const filled = withDerivedDefaults(resource, input, operation === "replace");
    return filled ? this.check(resource, operation, filled) : input;
  }
}

function faultsOf(described: Described, validate: ValidateFunction<Body>, body: unknown): Fault[] {
  // First, because it bounds how deep and long what the schema looks at can be.
  const unstorable = [...unstorableValues(body)];
  const faults = validate(body) ? [] : validate.errors!.map((error) => faultOf(described, error));
  for (const fault of unstorable) {
    if (!faults.some(({ field }) => field === fault.field)) faults.push(fault);
  }
  return faults;
}

/** The format `date-time`, of moments that can be kept. */
function keptDateTime({ formats }: Ajv): (text: string) => boolean {
  // The package gives this format as an object with a function.
  const { validate } = formats["date-time"] as { validate(text: string): boolean };
  return (text) => validate(text) && moment(text) !== undefined;
}

/**
 * Schemas must be such, as parts of a body, and constant defaults must keep to them. `hooked` has every field that the
 * others have; of an object that is merged, what can be said of a change is a schema of its own.
 *
 * @param place what the name of a field is told with
 */
function refuseFaulty(
  ajv: Ajv,
  place: string,
  attributes: readonly Attribute[],
  { hooked, change }: BodySchemas,
): void {
  const refuse = (name: string, remedy: string): never => {
    throw new OperatorError(`${place}${name}: ${remedy}`);
  };
  const fault =
    faultOfSchema(ajv, hooked) ?? (attributes.some(isMerged) ? faultOfSchema(ajv, change) : undefined);
  if (fault !== undefined) {
    for (const attribute of attributes) {
      const own = faultOfSchema(ajv, {
        properties: { [attribute.name]: attributeSchema(attribute) },
        type: "object",
      });
      if (own !== undefined) refuse(attribute.name, `its schema is faulty: ${own}`);
    }
    throw new OperatorError(`${place}${attributes.map(({ name }) => name).join(", ")}: ${fault}`);
  }
  const validate = ajv.compile<Body>(hooked);
  if (validate(Object.fromEntries(attributes.flatMap(constantDefault)))) return;
  const [error] = validate.errors!;
  refuse(error!.instancePath.split("/")[1] ?? "", `its default ${textOf(error!)}`);
}

function faultOfSchema(ajv: Ajv, schema: JsonSchema): string | undefined {
  try {
    ajv.compile(schema);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The name of a field with its default, where that is a value of JSON. */
function constantDefault({ name, field }: Attribute): [string, unknown][] {
  const standard = "default" in field.options ? field.options.default : undefined;
  if (standard === undefined || typeof standard === "function") return [];
  return field.kind === "timestamp" || field.kind === "belongsTo" ? [] : [[name, standard]];
}

/** One problem for many faults, the first of which stand in the message. */
export class FaultyInput extends Problem {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    const unique = [...new Map(faults.map((each) => [`${each.field} ${each.issue}`, each])).values()];
    const sentences = unique
      .slice(0, mostInMessage)
      .map(({ field, text }) => `${field || "The body"} ${text}.`);
    const more = unique.length > mostInMessage ? [`And ${unique.length - mostInMessage} more.`] : [];
    const details = unique.slice(0, mostDetails).map(({ field, issue }) => ({ field, issue }));
    super("validation_error", [...sentences, ...more].join(" "), details);
    this.faults = faults;
  }
}

/** The members of a body in which no fault was found. */
export function soundMembers(body: unknown, faults: readonly Fault[]): Body {
  if (faults.some(({ field }) => field === "")) return {};
  const faulty = new Set(faults.map(({ field }) => field.split(".")[0]));
  return Object.fromEntries(Object.entries(body as Body).filter(([name]) => !faulty.has(name)));
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
  // A JSON pointer (RFC 6901, section 3) with dots for its slashes.
  const names = error.instancePath.slice(1).replaceAll("/", ".");
  const place = names.replaceAll("~1", "/").replaceAll("~0", "~");
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
    if (key.length > longestName) {
      throw new Problem("malformed_request", `A member has a name of more than ${longestName} characters.`);
    }
    if (!isStorable(key))
      yield { field: path.join("."), issue: "format", text: "has a name that cannot be stored" };
    yield* unstorableValues(inner, [...path, key]);
  }
}

/** Whether a text is well-formed Unicode without U+0000. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
