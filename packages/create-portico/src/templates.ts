// The files of a new project: those of every project, of its example and of its database.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { DatabaseKind, Example } from "./choices.ts";

export interface ProjectOptions {
  readonly name: string;
  readonly example: Example;
  readonly database: DatabaseKind;
}

/** The text of each file by its path in the project: `{ "resources/notes.ts": "..." }`. */
export type ProjectFiles = Readonly<Record<string, string>>;

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
  readonly version: string;
};

export { version };

/** What a project needs for its database. */
const templatesOf: Readonly<Record<DatabaseKind, readonly string[]>> = {
  sqlite: [],
  postgres: ["postgres"],
};

/** @throws Error if a template has a placeholder without a value */
export function projectFiles(options: ProjectOptions): ProjectFiles {
  const { database, example } = options;
  const folders = ["common", ...templatesOf[database], example].map(templateFolder);
  const files = folders.flatMap((folder) =>
    filesOf(folder).map((path) => [path, readFileSync(join(folder, path), "utf8")] as const),
  );
  const values = placeholders(options);
  return Object.fromEntries(files.map(([path, text]) => [projectPath(path, values), filled(text, values)]));
}

/** In the repository, the tracker is one of the examples; the package has a copy of it. */
function templateFolder(name: string): string {
  const folder = join(packageFolder, "templates", name);
  return existsSync(folder) ? folder : join(packageFolder, "../../examples", name);
}

/** The paths of the files in a folder, except the data of a server that ran there. */
function filesOf(folder: string): string[] {
  // Of type string without an encoding of buffers.
  const paths = readdirSync(folder, { recursive: true }) as string[];
  return paths
    .filter((path) => !path.startsWith("data") && path !== "README.md")
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();
}

type Placeholders = Readonly<Record<string, string>>;

function placeholders({ name, database }: ProjectOptions): Placeholders {
  const databaseName = name.replaceAll(/[.-]/g, "_");
  return {
    name,
    title: titleOf(name),
    version,
    databaseName,
    ...placeholdersOf[database](name, databaseName),
  };
}

/** What the files say of the database. A clone of the project has no `.env`. */
const placeholdersOf: Readonly<Record<DatabaseKind, (name: string, databaseName: string) => Placeholders>> = {
  sqlite: (name) => ({
    databaseSetting: "#DATABASE_URL=file:./data/portico.db",
    databaseSteps: "",
    databaseFiles: "",
    liveDatabase: "",
    liveSettings: "PORTICO_SECRET, PUBLIC_URL",
    unitDatabase: ` DATABASE_URL=file:/var/lib/${name}/portico.db`,
  }),
  postgres: (_, databaseName) => {
    const databaseUrl = `postgres://portico:portico@127.0.0.1:5432/${databaseName}`;
    return {
      databaseUrl,
      databaseSetting: `DATABASE_URL=${databaseUrl}`,
      databaseSteps: [
        "cp -n .env.example .env              # in a clone, which has no .env\n",
        "docker compose up --detach --wait    # PostgreSQL; or set DATABASE_URL in .env to one of your own\n",
      ].join(""),
      databaseFiles: "| `compose.yaml` | PostgreSQL for development, in a container |\n",
      liveDatabase: "`DATABASE_URL`, ",
      liveSettings: "PORTICO_SECRET, PUBLIC_URL, DATABASE_URL",
      // Without it, the unit fails instead of serving an empty SQLite database.
      unitDatabase: "",
    };
  },
};

/** `"my-api"` -> `"My api"` */
function titleOf(name: string): string {
  const words = name.replaceAll(/[._-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * npm leaves `.gitignore` and `.npmrc` out of packages, so names of templates begin with `_` instead of a dot.
 * `_README.md` is the README of the project.
 */
function projectPath(path: string, values: Placeholders): string {
  const renamed = path === "_README.md" ? "README.md" : path.replace(/^_/, ".");
  return filled(renamed, values).split(sep).join("/");
}

function filled(text: string, values: Placeholders): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for the placeholder ${name}`);
    return value;
  });
}
