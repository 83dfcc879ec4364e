// `me`: who the caller is.

import {
  GraphQLEnumType,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
} from "graphql";
import { ownAttributes } from "../../engine/me.ts";
import { showOwnFiles } from "../../query/shown-files.ts";
import type { CollectedField } from "../document/collect-fields.ts";
import { objectMapping } from "./field-mapping.ts";
import type { SharedFieldKind, SharedTypes } from "./root-field.ts";

const required = (type: GraphQLOutputType) => ({
  type: new GraphQLNonNull(type as ConstructorParameters<typeof GraphQLNonNull<GraphQLEnumType>>[0]),
});

/** The member and, of an object, its selected members. */
type Projection = (value: unknown) => unknown;

export const meField: SharedFieldKind = ({ rows }) => {
  const kind = new GraphQLEnumType({
    name: "CallerKind",
    values: { key: {}, user: {}, client: {}, anonymous: {} },
  });
  const object = (name: string, fields: Readonly<Record<string, { readonly type: GraphQLOutputType }>>) =>
    new GraphQLObjectType({ name, fields });
  const id = required(GraphQLID);
  const text = required(GraphQLString);
  const number = required(GraphQLInt);
  const known = { id, name: text, email: text, role: text };
  const type = object("Me", {
    kind: required(kind),
    tenant: required(object("MyTenant", { id, name: text })),
    user: {
      type: new GraphQLObjectType({ name: "MyUser", fields: () => ({ ...known, ...addedFields(rows) }) }),
    },
    scopes: required(new GraphQLList(new GraphQLNonNull(GraphQLString))),
    rateLimit: { type: object("MyRateLimit", { limit: number, windowSeconds: number }) },
  });
  return [
    {
      name: "me",
      ...required(type),
      description: "The caller, and its current permissions.",
      mapping: {
        ...objectMapping,
        cost: () => 1,
        compile: (field) => {
          const project = projectionOf(field);
          const [users] = [...rows.keys()].filter(({ name }) => name === "user");
          return async ({ engine, caller, fileUrl }) =>
            JSON.stringify(project(showOwnFiles(users!, await engine.me(caller), fileUrl)));
        },
      },
    },
  ];
};

/** The fields that the app adds to users, with the types that they have there. */
function addedFields(rows: SharedTypes["rows"]): Record<string, { readonly type: GraphQLOutputType }> {
  const [users, row] = [...rows].find(([{ name }]) => name === "user")!;
  const types = row.getFields();
  const known = ["id", "name", "email", "role"];
  const added = ownAttributes(users).filter(({ name }) => !known.includes(name) && types[name] !== undefined);
  return Object.fromEntries(added.map(({ name }) => [name, { type: types[name]!.type }]));
}

/** The selected members of a value, under their response names. */
export function projectionOf({ selectionSets }: CollectedField): Projection {
  const [selected] = selectionSets;
  if (!selected) return (value) => value;
  const members = selected.fields.map(({ responseName, definition, ...field }) => {
    const project = projectionOf({ responseName, definition, ...field });
    const { name } = definition;
    const read: Projection =
      name === "__typename"
        ? () => selected.type.name
        : (value) => project((value as Readonly<Record<string, unknown>>)[name]);
    return [responseName, read] as const;
  });
  return (value) =>
    value === null ? null : Object.fromEntries(members.map(([name, read]) => [name, read(value)]));
}
