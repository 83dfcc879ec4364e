// JSON Merge Patch (RFC 7396, section 2), for the inside of `json` fields.

/** `target` with `patch` laid over it: null removes a member, objects merge, anything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  // Without a prototype, a member called __proto__ is a member like any other.
  const merged: Record<string, unknown> = Object.assign(Object.create(null), isObject(target) ? target : {});
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
