// The operations on rows that code of declarations uses in a transaction, by model. Each write runs under a savepoint.

import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import { valuesOfHook } from "./code-results.ts";
import { explainDeleteError, explainNestedError } from "./constraint.ts";
import { RowReads } from "./row-reads.ts";
import { patchedValues, splitServerFields } from "./validation/row-values.ts";
import type { WriteContext } from "./write-context.ts";
import type { WriteResult } from "./write-result.ts";
import type { WriteTransaction } from "./write-transaction.ts";

/** Runs a write under a savepoint: if it fails and the code continues, nothing of it remains. */
export type RunNested = <T>(
  resource: ResourceModel,
  work: (nested: WriteTransaction) => Promise<T>,
  explain: (error: unknown, resource: ResourceModel) => unknown,
) => Promise<T>;

/** What `Rows` calls. */
export type RowOperations = Pick<TransactionRows, keyof TransactionRows>;

export class TransactionRows extends RowReads {
  readonly #context: WriteContext;
  readonly #nested: RunNested;

  /** @param isRestricted whether the policies of the caller apply */
  constructor(context: WriteContext, isRestricted: boolean, nested: RunNested) {
    super(context, isRestricted);
    this.#context = context;
    this.#nested = nested;
  }

  create(resource: ResourceModel, body: unknown, parentId: string | undefined): Promise<WriteResult> {
    return this.#nested(
      resource,
      async (nested) => {
        const [input, serverFields] = splitServerFields(resource, body);
        const values = valuesOfHook(this.#context, resource, serverFields);
        const { validator } = this.#context;
        return nested.insert(resource, validator.validateWhole(resource, "create", input), parentId, values);
      },
      explainNestedError,
    );
  }

  update(resource: ResourceModel, id: string, body: unknown): Promise<WriteResult> {
    return this.#nested(
      resource,
      async (nested) => nested.update(resource, id, this.#changes(resource, body)),
      explainNestedError,
    );
  }

  /** @returns the number of rows */
  updateMany(resource: ResourceModel, where: unknown, body: unknown): Promise<number> {
    return this.#nested(
      resource,
      async (nested) => {
        const conditions = this.conditions(resource, "updateMany", where);
        return nested.updateMany(resource, conditions, this.#changes(resource, body));
      },
      explainNestedError,
    );
  }

  delete(resource: ResourceModel, id: string): Promise<void> {
    return this.#nested(
      resource,
      async (nested) => void (await nested.delete(resource, id)),
      explainDeleteError,
    );
  }

  /** @returns the number of rows */
  deleteMany(resource: ResourceModel, where: unknown): Promise<number> {
    return this.#nested(
      resource,
      async (nested) => nested.deleteMany(resource, this.conditions(resource, "deleteMany", where)),
      explainDeleteError,
    );
  }

  /** The values that a body of code changes, which may have fields that callers cannot set. @throws InvalidInput */
  #changes(resource: ResourceModel, body: unknown): (current: RowValues) => RowValues {
    const { validator } = this.#context;
    const input = validator.validate(resource, "hookResult", body);
    return (current) => validator.validateMerged(resource, patchedValues(resource, input, current));
  }
}
