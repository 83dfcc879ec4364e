// The GraphQL queries that are measured: for Portico, and for PostGraphile with the same rows as a result.

export interface Query {
  /** Hand-written servers get the same query. */
  readonly portico: string;
  readonly postgraphile: (tenantNo: number) => string;
}

const ownOrder = "orderBy: [CREATED_AT_DESC, ROW_ID_DESC]";

/** Two fields of each post. */
export const flatQuery: Query = {
  portico: "{ posts(limit: 20) { id title } }",
  postgraphile: (tenantNo) => postgraphileQuery(tenantNo, "id: rowId title"),
};

/** Three levels of rows. */
export const nestedQuery: Query = {
  portico: "{ posts(limit: 20) { id title author { id name posts(first: 5) { id title } } } }",
  postgraphile: (tenantNo) =>
    postgraphileQuery(
      tenantNo,
      `id: rowId title author: userByTenantNoAndAuthorId { id: rowId name posts: postsByTenantNoAndAuthorId(first: 5, ${ownOrder}) { nodes { id: rowId title } } }`,
    ),
};

/** Reads from the same index as Portico's query: by tenant, newest first. */
function postgraphileQuery(tenantNo: number, fields: string): string {
  return `{ posts: allPosts(first: 20, condition: { tenantNo: ${tenantNo} }, ${ownOrder}) { nodes { ${fields} } } }`;
}
