// The schemas of bodies, compiled by Ajv, and the check of what declarations put into them.

import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import { OperatorError } from "../../errors.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import {
  attributeSchema,
  type BodySchemas,
  isMergePatched,
  type JsonSchema,
} from "../../model/json-schema.ts";
import type { Attribute, Model } from "../../model/model.ts";
import { boundKeywords } from "./bounded-keywords.ts";
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
    boundKeywords(this.#ajv);
  }

  compile(schema: JsonSchema): ValidateFunction<Record<string, unknown>> {
    return this.#ajv.compile<Record<string, unknown>>(schema);
  }

  /** @throws OperatorError for a field whose schema is not valid, or whose constant default does not match it */
  requireValidDeclarations({ resources }: Model): void {
    for (const resource of resources) {
      const prefix = `resource ${resource.name}, field `;
      this.#requireValid(prefix, resource.attributes, resource.schemas);
      for (const action of resource.actions.values())
        this.#requireValid(`${prefix}${action.name}.`, action.attributes, action.schemas);
    }
  }

  /**
   * `hookResult` has every field that the other schemas have; `update` has its own schema for an object that is merged.
   * @param prefix what an error message puts before the name of a field
   */
  #requireValid(prefix: string, attributes: readonly Attribute[], { hookResult, update }: BodySchemas): void {
    const refuse = (name: string, remedy: string): never => {
      throw new OperatorError(`${prefix}${name}: ${remedy}`);
    };
    const error =
      this.#errorOf(hookResult) ?? (attributes.some(isMergePatched) ? this.#errorOf(update) : undefined);
    if (error !== undefined) {
      for (const attribute of attributes) {
        const own = this.#errorOf({
          properties: { [attribute.name]: attributeSchema(attribute) },
          type: "object",
        });
        if (own !== undefined) refuse(attribute.name, `its schema is not valid: ${own}`);
      }
      refuse(attributes.map(({ name }) => name).join(", "), error);
    }
    const validate = this.compile(hookResult);
    if (validate(Object.fromEntries(attributes.flatMap(constantDefault)))) return;
    const [first] = validate.errors!;
    refuse(first!.instancePath.split("/")[1] ?? "", `its default ${keywordText(first!)}`);
  }

  /** Why a schema cannot be compiled, if it cannot. */
  #errorOf(schema: JsonSchema): string | undefined {
    try {
      this.#ajv.compile(schema);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
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
  return field.kind === "timestamp" || field.kind === "belongsTo" ? [] : [[name, value]];
}
