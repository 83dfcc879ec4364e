// The keywords `formatMinimum` and `formatMaximum`, as the package ajv-formats defines them: the bounds of a text in the
// order of its format.

import type { Ajv, AnySchemaObject } from "ajv";
import type { DataValidateFunction } from "ajv/dist/types/index.js";
import { isCalendarDate } from "../../lib/calendar-date.ts";
import { compareDecimals, isDecimal } from "../../lib/decimal.ts";

/** An order of the texts that have a format. Others are reported by the format. */
interface OrderedFormat {
  readonly has: (text: string) => boolean;
  readonly compare: (one: string, other: string) => number;
}

const orderedFormats: Readonly<Record<string, OrderedFormat>> = {
  date: { has: isCalendarDate, compare: (one, other) => (one < other ? -1 : Number(one > other)) },
  decimal: { has: isDecimal, compare: compareDecimals },
};

export function addFormatLimits(ajv: Ajv): void {
  add(ajv, "formatMinimum", (order) => order >= 0);
  add(ajv, "formatMaximum", (order) => order <= 0);
}

function add(ajv: Ajv, keyword: string, isMet: (order: number) => boolean): void {
  ajv.addKeyword({
    keyword,
    type: "string",
    schemaType: "string",
    compile: (limit: string, { format }: AnySchemaObject) => {
      const ordered = orderedFormats[format];
      if (!ordered)
        throw new Error(`${keyword} needs the format ${Object.keys(orderedFormats).join(" or ")}`);
      const validate: DataValidateFunction = (text: string) => {
        if (!ordered.has(text) || isMet(ordered.compare(text, limit))) return true;
        // Ajv writes the path into the object.
        validate.errors = [{ keyword, params: { limit, format } }];
        return false;
      };
      return validate;
    },
  });
}
