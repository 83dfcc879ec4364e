// What the body of a response holds.

/** @throws SyntaxError for JSON that is no object */
export async function readObject(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = await response.json();
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new SyntaxError("It is no object.");
}

/** `undefined` for a response without a body. */
export async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === "" ? undefined : JSON.parse(text);
}
