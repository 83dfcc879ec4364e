// The query of an export: parameters of exports, and those of the list of the same rows.

import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { unknownParameter } from "../engine/validation/messages.ts";
import type { InputError } from "../errors.ts";
import type { Query } from "../query/query-string.ts";
import { parameterError, type QueryParameters } from "../rest/query/parameters.ts";
import { type FormatName, formats, maxRows } from "./operation.ts";

/** What is asked of every export. */
export interface OutputRequest {
  /** Undefined where the header `Accept` decides. */
  readonly format: FormatName | undefined;
  /** For CSV. */
  readonly escapesFormulas: boolean;
  /** The maximum number of rows. */
  readonly limit: number;
}

export class ExportQuery {
  readonly #errors: InputError[] = [];
  readonly #own = new Map<string, string>();
  readonly #ofList = new Map<string, readonly string[]>();

  /** @param ofList whether the list has a parameter */
  constructor(query: Query, own: QueryParameters, ofList: (name: string) => boolean) {
    for (const [name, values] of query) {
      if (own.has(name)) {
        const error = parameterError(own.get(name), name, values);
        if (error) this.#errors.push(error);
        this.#own.set(name, values[0]!);
      } else if (ofList(name)) this.#ofList.set(name, values);
      else this.#errors.push(unknownParameter(name));
    }
  }

  /** @throws InvalidInput with every error in the query */
  parse<List>(parseList: (query: Query) => List): { readonly output: OutputRequest; readonly list: List } {
    const output = {
      format: this.#choice("format", formats),
      escapesFormulas: this.#choice("formulas", ["escape", "keep"]) !== "keep",
      limit: parseLimit(this.text("limit")),
    };
    this.#choice("total", ["true", "false"]);
    const list = this.#parseList(parseList);
    if (this.#errors.length > 0) throw new InvalidInput(this.#errors);
    // Without an error, the list was parsed.
    return { output, list: list! };
  }

  text(name: string): string | undefined {
    return this.#own.get(name);
  }

  #parseList<List>(parseList: (query: Query) => List): List | undefined {
    try {
      return parseList(this.#ofList);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      this.#errors.push(...error.errors);
      return undefined;
    }
  }

  #choice<Value extends string>(field: string, choices: readonly Value[]): Value | undefined {
    const text = this.text(field);
    const known = choices.find((each) => each === text);
    if (text !== undefined && known === undefined)
      this.#errors.push({ field, issue: "choice", text: `must be one of ${choices.join(", ")}` });
    return known;
  }
}

/** An invalid limit becomes the default, and a larger one the maximum, as in lists. */
function parseLimit(text: string | undefined): number {
  const limit = text !== undefined && /^\d+$/.test(text) ? Number(text) : maxRows;
  return limit < 1 ? maxRows : Math.min(limit, maxRows);
}
