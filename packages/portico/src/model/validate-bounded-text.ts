// Checks the options of fields whose values are texts in an order of their own: decimals and dates.

import type { DateOptions, DecimalOptions } from "../declare/field-options.ts";
import { isCalendarDate } from "../lib/calendar-date.ts";
import { maxDecimal, maxPrecision, parseDecimal } from "../lib/decimal.ts";
import type { Refuse } from "./validate-behaviour.ts";

/** @param refuse throws with the name of the field */
export function validateDecimal(options: DecimalOptions, refuse: Refuse): void {
  const { precision, scale } = options;
  if (!Number.isInteger(precision) || precision < 1 || precision > maxPrecision)
    refuse(`precision is the number of digits in all, 1 to ${maxPrecision}: precision: 12`);
  if (!Number.isInteger(scale) || scale < 0 || scale > precision)
    refuse("scale is the number of digits after the point, 0 to precision: scale: 2");
  const [most, example] = [maxDecimal(precision, scale), maxDecimal(Math.min(precision, scale + 2), scale)];
  const parse = (name: "min" | "max" | "default" | "fill", value: unknown): bigint => {
    const units = typeof value === "string" ? parseDecimal(value, scale) : undefined;
    if (units !== undefined && isWithin(units, parseDecimal(most, scale)!)) return units;
    return refuse(`${name} is not a decimal of these digits; write it as text, such as "${example}"`);
  };
  const { min = `-${most}`, max = most } = options;
  const [least, greatest] = [parse("min", min), parse("max", max)];
  if (least > greatest) refuse("min is larger than max");
  for (const name of ["default", "fill"] as const) {
    const value = options[name];
    if (value === undefined || typeof value === "function") continue;
    const units = parse(name, value);
    if (units < least || units > greatest) refuse(`${nameOf(name)} is outside min and max`);
  }
}

function isWithin(units: bigint, most: bigint): boolean {
  return -most <= units && units <= most;
}

/** @param refuse throws with the name of the field */
export function validateDate(options: DateOptions, refuse: Refuse): void {
  const { min = "0001-01-01", max = "9999-12-31" } = options;
  for (const name of ["min", "max", "default", "fill"] as const) {
    const value: unknown = options[name];
    if (value === undefined || typeof value === "function" || isToday(name, value)) continue;
    if (typeof value !== "string" || !isCalendarDate(value))
      refuse(
        `${name} is not a day that exists; write it as 2027-01-31${name === "default" ? ", or as today" : ""}`,
      );
    else if (value < min || value > max)
      refuse(
        name === "min" || name === "max" ? "min is later than max" : `${nameOf(name)} is outside min and max`,
      );
  }
}

function isToday(name: string, value: unknown): boolean {
  return name === "default" && value === "today";
}

function nameOf(name: "default" | "fill"): string {
  return name === "default" ? "the default" : name;
}
