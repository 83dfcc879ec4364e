// What GraphQL is measured with: each query as Portico is asked it, and as PostGraphile is asked for the same rows.

export interface Query {
  /** Servers written by hand are asked the same. */
  readonly portico: string;
  readonly postgraphile: (tenantId: string) => string;
}

const ownOrder = "orderBy: [CREATED_AT_DESC, ROW_ID_DESC]";

/** Two fields of each post. */
export const flatQuery: Query = {
  portico: "{ posts(limit: 20) { id title } }",
  postgraphile: (tenantId) => postgraphileQuery(tenantId, "id: rowId title"),
};

/** Three levels of rows. */
export const nestedQuery: Query = {
  portico: "{ posts(limit: 20) { id title author { id name posts(first: 5) { id title } } } }",
  postgraphile: (tenantId) =>
    postgraphileQuery(
      tenantId,
      `id: rowId title author: userByTenantIdAndAuthorId { id: rowId name posts: postsByTenantIdAndAuthorId(first: 5, ${ownOrder}) { nodes { id: rowId title } } }`,
    ),
};

/** Its rows are found along the index that Portico's are: by tenant, the newest first. */
function postgraphileQuery(tenantId: string, fields: string): string {
  return `{ posts: allPosts(first: 20, condition: { tenantId: "${tenantId}" }, ${ownOrder}) { nodes { ${fields} } } }`;
}
