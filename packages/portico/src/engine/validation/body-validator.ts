// Validates bodies against the JSON Schema of their resource. All errors of a body are reported at once.

import type { ValidateFunction } from "ajv";
import type { InputError } from "../../errors.ts";
import { type BodySchemas, isMergePatched } from "../../model/json-schema.ts";
import type { Attribute, Model, RequestShape, ResourceModel, Shape } from "../../model/model.ts";
import type { RowValues } from "../../query/write.ts";
import { SchemaCompiler } from "./body-schemas.ts";
import { InvalidInput, validMembers } from "./invalid-input.ts";
import { schemaError } from "./messages.ts";
import { withDerivedDefaults } from "./row-values.ts";
import { unstorableValues } from "./storable.ts";

type Body = Record<string, unknown>;

export class BodyValidator {
  readonly #model: Model;
  readonly #schemas = new SchemaCompiler();

  /** @throws OperatorError for declarations whose schemas or defaults are not valid */
  constructor(model: Model) {
    this.#model = model;
    this.#schemas.requireValidDeclarations(model);
  }

  /** Returns the body if it is valid. @throws InvalidInput */
  validate(resource: ResourceModel, operation: keyof BodySchemas, body: unknown): Body {
    const errors = schemaErrors(resource, this.#schemas.compile(resource.schemas[operation]), body);
    if (operation !== "hookResult") errors.push(...this.#declaredErrors(resource, operation, body, errors));
    if (errors.length === 0) return body as Body;
    throw new InvalidInput(errors);
  }

  /** Validates the JSON objects in changes that were merged with those of the row. @throws InvalidInput */
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

  /** Validates values that are not stored. A body is optional if nothing in it is required. @throws InvalidInput */
  validateInput(shape: RequestShape, body: unknown = {}): RowValues {
    const validate = this.#schemas.compile(shape.schemas.create);
    const errors = schemaErrors(shape, validate, body);
    if (errors.length > 0) throw new InvalidInput(errors, shape);
    const filled = withDerivedDefaults(shape, body as Body);
    const derived = filled ? schemaErrors(shape, validate, filled) : [];
    if (derived.length > 0) throw new InvalidInput(derived, shape);
    return filled ?? (body as Body);
  }

  /**
   * Validates a body that describes a whole row, and adds the defaults that are derived from it.
   * @param kept fields that get no default
   * @throws InvalidInput
   */
  validateWhole(
    resource: ResourceModel,
    operation: "create" | "replace",
    body: unknown,
    kept: readonly Attribute[] = [],
  ): RowValues {
    const input = this.validate(resource, operation, body);
    const filled = withDerivedDefaults(resource, input, operation === "replace", kept);
    return filled ? this.validate(resource, operation, filled) : input;
  }

  /** The errors that `validate` of the declaration finds in members without other errors. */
  #declaredErrors(
    resource: ResourceModel,
    operation: "create" | "replace" | "update",
    body: unknown,
    errors: readonly InputError[],
  ): readonly InputError[] {
    if (!resource.validate || errors.some(({ field }) => field === "")) return [];
    const valid = validMembers(body, errors);
    const context = { operation, now: new Date().toISOString(), scopes: this.#model.scopes };
    const isInvalid = (field: string): boolean =>
      Object.hasOwn(body as Body, field) && !Object.hasOwn(valid, field);
    return resource.validate(valid, context).filter(({ field }) => !isInvalid(field));
  }
}

function schemaErrors(shape: Shape, validate: ValidateFunction<Body>, body: unknown): InputError[] {
  // First, because it bounds the depth and the names of what the schema is compared with.
  const unstorable = [...unstorableValues(body)];
  const errors = validate(body) ? [] : validate.errors!.map((error) => schemaError(shape, error));
  for (const error of unstorable) {
    if (!errors.some(({ field }) => field === error.field)) errors.push(error);
  }
  return errors;
}
