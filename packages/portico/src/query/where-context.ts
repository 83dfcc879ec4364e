// What the parts of a condition that is parsed share: its limits and its errors.

import type { ResourceModel } from "../model/model.ts";
import { always, type Condition, never } from "./condition.ts";

/** Comparisons in all. */
const maxComparisons = 100;

/** @see parseWhere */
export interface WhereOptions {
  /**
   * Throws an error about a condition.
   * @param resource whose field it names
   * @param field undefined for the condition as a whole
   * @param remedy what is wrong and what to do: `names it, but there is no such field; use one of id, title`
   */
  readonly refuse: (resource: ResourceModel, field: string | undefined, remedy: string) => never;
  /** Whether null is an error where a value belongs. It is an unknown value otherwise. */
  readonly refusesNull?: boolean;
  /** Whether undefined is an error. It is an unknown value otherwise. */
  readonly refusesUndefined?: boolean;
  /** Whether internal fields can be compared. Events do not hold them, so policies cannot. */
  readonly allowsInternal?: boolean;
}

/** Where in a condition a part is. */
export interface Position {
  readonly depth: number;
  /** Whether the condition is met where what is parsed here is not. */
  readonly isNegated: boolean;
}

export class WhereContext {
  readonly #options: WhereOptions;
  #comparisons = 0;

  constructor(options: WhereOptions) {
    this.#options = options;
  }

  /** The condition for a value that is unknown: it lets no row meet the whole, also where it is negated. */
  protected unknownIn({ isNegated }: Position): Condition {
    return isNegated ? always : never;
  }

  protected count(resource: ResourceModel): void {
    this.#comparisons += 1;
    if (this.#comparisons > maxComparisons) this.refuseTooMany(resource);
  }

  protected refuseNull(resource: ResourceModel, field: string): void {
    if (this.#options.refusesNull)
      this.refuse(
        resource,
        field,
        "compares it with null, which matches no row; write { isNull: true } for rows without a value, or undefined for a value that is not known",
      );
  }

  protected refuseUndefined(resource: ResourceModel, field: string | undefined): void {
    if (this.#options.refusesUndefined)
      this.refuse(
        resource,
        field,
        "has undefined where a value belongs; leave the member out, or write { isNull: true } for rows without a value",
      );
  }

  protected requireNotInternal(resource: ResourceModel, field: string, isInternal: boolean): void {
    if (isInternal && !this.#options.allowsInternal)
      this.refuse(
        resource,
        field,
        "names it, but it is internal, so events do not hold it; use another field",
      );
  }

  protected refuse(resource: ResourceModel, field: string | undefined, remedy: string): never {
    return this.#options.refuse(resource, field, remedy);
  }

  /** Refuses a list that is too long before its members are parsed. */
  protected refuseTooMany(resource: ResourceModel): never {
    return this.refuse(resource, undefined, `has more than ${maxComparisons} comparisons; simplify it`);
  }

  protected get maxComparisons(): number {
    return maxComparisons;
  }
}
