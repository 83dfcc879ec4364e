// Types that several fields share.

import {
  GraphQLID,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLUnionType,
} from "graphql";

/** `ID!` */
export const requiredId = new GraphQLNonNull(GraphQLID);

export const nodeInterface = new GraphQLInterfaceType({
  name: "Node",
  description: "An object with an id.",
  fields: { id: { type: requiredId } },
});

/** `[Post!]!` */
export const listOf = (type: GraphQLObjectType | GraphQLUnionType) =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)));
