// The examples and databases that a project can be created with.

export const examples = {
  blank: "one small resource, with comments that explain it",
  blog: "posts that are public once they are published, and comments",
  tracker: "a complete product: projects, issues, members, roles, files, a schedule",
} as const;

export const databases = {
  sqlite: "a file in the project; nothing to install",
  postgres: "a PostgreSQL server; compose.yaml starts one",
} as const;

export type Example = keyof typeof examples;
export type DatabaseKind = keyof typeof databases;
