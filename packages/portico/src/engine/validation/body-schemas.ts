// The schemas of bodies, compiled by Ajv, and the check of what declarations put into them.

import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import { OperatorError } from "../../errors.ts";
import { isCalendarDate } from "../../lib/calendar-date.ts";
import { isDecimal } from "../../lib/decimal.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import { type BodySchemas, isMergePatched, type JsonSchema } from "../../model/json-schema.ts";
import type { Attribute, Model } from "../../model/model.ts";
import { boundKeywords } from "./bounded-keywords.ts";
import { addFormatLimits } from "./format-limits.ts";
import { keywordText } from "./messages.ts";

/** Compiles schemas with the formats and the bounded keywords of Portico. A schema is compiled once. */
export class SchemaCompiler {
  readonly #ajv = new Ajv({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    ownProperties: true,
    useDefaults: false,
  });

  constructor() {
    // The package is CommonJS; its function is the default export's default.
    (formats as unknown as typeof formats.default)(this.#ajv, ["email", "uri", "date-time"]);
    this.#ajv.addFormat("date-time", storableDateTime(this.#ajv));
    this.#ajv.addFormat("date", isCalendarDate);
    this.#ajv.addFormat("decimal", isDecimal);
    boundKeywords(this.#ajv);
    addFormatLimits(this.#ajv);
  }

  compile(schema: JsonSchema): ValidateFunction<Record<string, unknown>> {
    return this.#ajv.compile<Record<string, unknown>>(schema);
  }

  /** @throws OperatorError for a field whose schema is not valid, or whose constant default does not match it */
  requireValidDeclarations({ resources, routes }: Model): void {
    for (const resource of resources) {
      const prefix = `resource ${resource.name}, field `;
      this.#requireValid(prefix, resource.attributes, resource.schemas);
      for (const action of [...resource.actions.values(), ...resource.collectionActions.values()])
        this.#requireValid(`${prefix}${action.name}.`, action.attributes, action.schemas);
    }
    for (const route of routes)
      for (const part of [route.parameters, route.query, route.input, route.answer])
        if (part) this.#requireValid(`route ${part.name}, `, part.attributes, part.schemas);
  }

  /**
   * Compiles what the project has written into the schemas, as compiling takes most of the time of a start. The schemas of
   * bodies are compiled when they are needed. `hookResult` has every field that the other schemas have; `update` has its
   * own schema for an object that is merged.
   * @param prefix what an error message puts before the name of a field
   */
  #requireValid(prefix: string, attributes: readonly Attribute[], { hookResult, update }: BodySchemas): void {
    const refuse = (name: string, remedy: string): never => {
      throw new OperatorError(`${prefix}${name}: ${remedy}`);
    };
    const declared = only(attributes.filter(hasDeclaredSchema), hookResult);
    const error =
      this.#errorOf(hookResult, declared) ?? this.#errorOf(only(attributes.filter(isMergePatched), update));
    if (error !== undefined) {
      for (const attribute of attributes) {
        const own = this.#errorOf(only([attribute], hookResult));
        if (own !== undefined) refuse(attribute.name, `its schema is not valid: ${own}`);
      }
      refuse(attributes.map(({ name }) => name).join(", "), error);
    }
    const validate = this.compile(declared);
    if (validate(Object.fromEntries(attributes.flatMap(constantDefault)))) return;
    const [first] = validate.errors!;
    refuse(first!.instancePath.split("/")[1] ?? "", `its default ${keywordText(first!)}`);
  }

  /** Why a schema is not valid, or a part of it cannot be compiled. */
  #errorOf(schema: JsonSchema, part: JsonSchema = schema): string | undefined {
    if (this.#ajv.validateSchema(schema) !== true) return `schema is invalid: ${this.#ajv.errorsText()}`;
    try {
      this.#ajv.compile(part);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
}

/** The schema of an object with these members only. */
function only(attributes: readonly Attribute[], { properties }: JsonSchema): JsonSchema {
  const schemas = properties as Readonly<Record<string, JsonSchema>>;
  const members = attributes.flatMap(({ name }) => (schemas[name] ? [[name, schemas[name]] as const] : []));
  return { type: "object", properties: Object.fromEntries(members) };
}

/** Whether the project has written a part of the schema of a field, other than numbers, or a value that must match it. */
function hasDeclaredSchema(attribute: Attribute): boolean {
  const { field } = attribute;
  if (field.kind === "text" && field.options.pattern) return true;
  return field.kind === "json" || field.kind === "list" || constantDefault(attribute).length > 0;
}

/** The format `date-time`, limited to timestamps that can be stored. */
function storableDateTime({ formats }: Ajv): (text: string) => boolean {
  // The package defines this format as an object with a function.
  const { validate } = formats["date-time"] as { validate(text: string): boolean };
  return (text) => validate(text) && parseTimestamp(text) !== undefined;
}

/** The name and default of a field, if the default is a value of JSON. */
function constantDefault({ name, field }: Attribute): [string, unknown][] {
  const value = "default" in field.options ? field.options.default : undefined;
  if (value === undefined || typeof value === "function") return [];
  return ["timestamp", "date", "belongsTo"].includes(field.kind) ? [] : [[name, value]];
}
