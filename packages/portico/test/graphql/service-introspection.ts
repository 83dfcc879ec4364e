// Generates the schema types of gql.tada with the functions of its command `gql.tada generate-output`, which does not run
// with TypeScript 7:
//
//     node packages/portico/test/graphql/service-introspection.ts

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { minifyIntrospection, outputIntrospectionFile } from "gql.tada/internal";
import { buildSchema, introspectionFromSchema } from "graphql";
import { projectFolder } from "../support/server.ts";

export const introspectionFile = join(import.meta.dirname, "service-schema.d.ts");

/** The file for the present service/schema.graphql. */
export function printIntrospection(): string {
  const sdl = readFileSync(join(projectFolder, "service/schema.graphql"), "utf8");
  const introspection = minifyIntrospection(introspectionFromSchema(buildSchema(sdl)));
  return outputIntrospectionFile(introspection, { fileType: ".d.ts", shouldPreprocess: true });
}

if (import.meta.main) writeFileSync(introspectionFile, printIntrospection());
