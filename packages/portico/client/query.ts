// Options of a call as a query string.

/**
 * `{ status: ["draft", "live"], createdAt: { gte: "2026-01-01" }, fields: ["title"] }` is
 * `?status=draft&status=live&createdAt[gte]=2026-01-01&fields=title`. A member that is undefined is left out.
 *
 * @throws TypeError for an empty list of values, which would match no row
 */
export function queryString(options: Readonly<Record<string, unknown>> = {}): string {
  const query = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (value === undefined) return;
    if (value === null) query.append(`${name}[isNull]`, "true");
    else if (Array.isArray(value)) {
      if (value.length === 0) throw new TypeError(`${name} is an empty list, which matches no row.`);
      for (const each of value) query.append(name, String(each));
    } else if (value instanceof Date) query.append(name, value.toISOString());
    else if (typeof value === "object")
      // A repeated parameter has any of the values, and they may contain commas.
      for (const [operator, operand] of Object.entries(value))
        add(operator === "in" ? name : `${name}[${operator}]`, operand);
    else query.append(name, String(value));
  };
  for (const [name, value] of Object.entries(options))
    add(name, (name === "fields" || name === "sort") && Array.isArray(value) ? value.join(",") : value);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
