// Option names from before the first release. Each is an error that names its replacement.

const renamed = {
  app: { sample: "seed" },
  export: { state: "computedStatus" },
  field: { fixed: "immutable", untagged: "excludeFromETag", whenRemoved: 'onDelete: "cascade"' },
  hookContext: { reveal: "returnOnce" },
  operation: { change: "update", remove: "delete" },
  resource: {
    under: "parent",
    alsoUnder: "nestedUnder",
    removal: 'markOnDelete: "cancelledAt"',
    check: "validate",
    served: "exposed",
    recorded: "events",
  },
  rule: { state: "status" },
} satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * The hint for a renamed option; undefined for any other name.
 *
 * @example
 * renameHint("resource", "under"); // "under was renamed; write parent"
 */
export function renameHint(of: keyof typeof renamed, name: string): string | undefined {
  const names: Readonly<Record<string, string>> = renamed[of];
  return Object.hasOwn(names, name) ? `${name} was renamed; write ${names[name]}` : undefined;
}
