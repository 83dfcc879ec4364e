// The type of the files of rows.

import { GraphQLID, GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLString } from "graphql";
import type { FileValue } from "../../declare/field.ts";
import { fileMemberMapping } from "../fields/file-members.ts";
import { withMapping } from "../fields/mapping-of.ts";

const types = {
  id: GraphQLID,
  name: GraphQLString,
  type: GraphQLString,
  size: GraphQLInt,
  url: GraphQLString,
} as const satisfies Record<keyof FileValue | "url", unknown>;

const descriptions: Readonly<Record<string, string>> = {
  type: "The media type: `image/png`.",
  size: "In bytes.",
  url: "The signed URL of the content. Anyone who has it can read the content until it expires, after some minutes.",
};

export const fileType = new GraphQLObjectType({
  name: "File",
  fields: Object.fromEntries(
    Object.entries(types).map(([name, type]) => [
      name,
      {
        type: new GraphQLNonNull(type),
        description: descriptions[name] ?? null,
        ...withMapping(fileMemberMapping(name as keyof typeof types)),
      },
    ]),
  ),
});
