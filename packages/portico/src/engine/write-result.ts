// The result of a write: the row as text, which is sent as it is, and as values for whatever reads them.

import type { RowValues } from "../query/write.ts";
import { withInternal } from "./stored-row.ts";

export class WriteResult {
  readonly id: string;
  /** Members that only the response to this write has, such as a new secret. */
  readonly returnedOnce: Readonly<Record<string, unknown>>;
  readonly #internal: RowValues;
  #text: string | undefined;
  #row: Record<string, unknown> | undefined;

  private constructor(
    id: string,
    returnedOnce: Readonly<Record<string, unknown>>,
    text: string | undefined,
    row: Record<string, unknown> | undefined,
    internal: RowValues,
  ) {
    this.#internal = internal;
    this.id = id;
    this.returnedOnce = returnedOnce;
    this.#text = text;
    this.#row = row;
  }

  /**
   * @param text the row as the database wrote it
   * @param internal the values that the text does not contain
   */
  static ofText(
    id: string,
    text: string,
    returnedOnce: Readonly<Record<string, unknown>>,
    internal: RowValues = {},
  ): WriteResult {
    return new WriteResult(id, returnedOnce, text, undefined, internal);
  }

  static ofRow(
    id: string,
    row: Record<string, unknown>,
    returnedOnce: Readonly<Record<string, unknown>>,
  ): WriteResult {
    return new WriteResult(id, returnedOnce, undefined, row, {});
  }

  /** The row as JSON text. */
  get text(): string {
    this.#text ??= JSON.stringify(this.#row);
    return this.#text;
  }

  /** The row, parsed when it is first read. */
  get row(): Record<string, unknown> {
    // A result has its text or its row.
    this.#row ??= withInternal(JSON.parse(this.#text!), this.#internal);
    return this.#row;
  }
}
