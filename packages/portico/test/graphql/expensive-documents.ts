// Documents within all limits that are as expensive as possible: for the parser, validation, the compiler, the database,
// introspection, or error messages.

export interface WorstDocument {
  readonly query: string;
  readonly variables?: object;
}

/** The ids of rows that the documents select. */
export interface WorstRows {
  readonly postId: string;
  readonly userId: string;
}

type Table = Readonly<Record<string, WorstDocument>>;

const many = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => part(index)).join(" ");
const list = <T>(length: number, item: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => item(index));

const maxLength = 130_000;
const longName = "k".repeat(990);
/** Longer than a column's name in PostgreSQL. */
const alias = "x".repeat(70);

export function expensiveDocuments({ postId, userId }: WorstRows): Table {
  return {
    ...forValidation,
    ...forRows(postId, userId),
    ...forIntrospection,
    ...forErrors(postId),
    ...forVariables,
  };
}

const forValidation: Table = {
  "a long comment": { query: `# ${"c".repeat(maxLength)}\n{ __typename }` },
  "lines without anything": { query: `${"\n".repeat(maxLength)}{ __typename }` },
  "fragments in a chain": {
    query: `{ ...F0 } ${many(95, (index) => `fragment F${index} on Query { ...F${index + 1} }`)} fragment F95 on Query { ${many(100, (index) => `a${index}: __typename`)} }`,
  },
  "fragments within one another": {
    query: `{ ...F0 } ${many(70, (index) => `fragment F${index} on Query { a${index}: __typename ...F${index + 1} }`)} fragment F70 on Query { ${many(140, (index) => `b${index}: __typename`)} }`,
  },
  "many fragments in one selection set": {
    query: `{ ${many(220, (index) => `...F${index}`)} } ${many(220, (index) => `fragment F${index} on Query { a${index}: __typename b${index}: __typename }`)}`,
  },
  "fifty operations over fragments with variables": {
    query: `${many(50, (index) => `query O${index}($v: Boolean!) { ...F0 }`)} ${many(60, (index) => `fragment F${index} on Query { a${index}: __typename @skip(if: $v) ...F${index + 1} }`)} fragment F60 on Query { __typename }`,
  },
  "one field fifty times with the same fields inside": {
    query: `{ ${many(50, () => `posts { ${many(19, (index) => `a${index}: id`)} }`)} }`,
  },
  "repeated fields in repeated fields": {
    query: `{ ${many(14, () => `posts { ${many(7, () => "author { posts { id } }")} }`)} }`,
  },
  "inline fragments within one another": {
    query: `{ ${"... { ".repeat(95)} ${many(250, (index) => `a${index}: __typename`)} ${"}".repeat(95)} }`,
  },
};

function forRows(postId: string, userId: string): Table {
  return {
    "long names around rows of rows": {
      query: `{ posts(limit: 100) { ${alias}: author { posts(first: 100) { id title } } } }`,
    },
    "500 lists at the root": {
      query: `{ ${many(490, (index) => `a${index}: posts(limit: 24) { title }`)} }`,
    },
    "500 nodes": { query: `{ ${many(490, (index) => `a${index}: node(id: "${postId}") { id }`)} }` },
    "500 rows around one row": {
      query: `{ post(id: "${postId}") { ${many(490, (index) => `a${index}: author { id }`)} } }`,
    },
    "the same with long names": {
      query: `{ post(id: "${postId}") { ${many(490, (index) => `${alias}${index}: author { id }`)} } }`,
    },
    "500 rows around each of fifty": {
      query: `{ posts(limit: 50) { ${many(480, (index) => `a${index}: author { id }`)} } }`,
    },
    "200 lists around one row": {
      query: `{ user(id: "${userId}") { ${many(200, (index) => `a${index}: posts(first: 100) { id }`)} } }`,
    },
    "pages with two texts of each row": {
      query: `{ ${many(40, (index) => `a${index}: postsConnection(first: 100) { edges { x: node { id author { name } } y: node { title } cursor } }`)} }`,
    },
    "300 searches": {
      query: `{ ${many(300, (index) => `a${index}: search(q: "word", limit: 1) { __typename }`)} }`,
    },
    "names that are longer than what they name": {
      query: `{ posts(limit: 60) { ${many(110, (index) => `${longName}${index}: id`)} } }`,
    },
  };
}

const forIntrospection: Table = {
  "the schema 240 times": {
    query: `{ ${many(200, (index) => `a${index}: __schema { types { fields { n${index}: name } } }`)} }`,
  },
  "900 names for each field of each type": {
    query: `{ __schema { types { fields { type { fields { ${many(900, (index) => `a${index}: name`)} } } } } } }`,
  },
  "more introspection than the limit allows": {
    query: `{ __schema { types { fields { type { ofType { ofType { ofType { fields { ${many(900, (index) => `${"n".repeat(60)}${index}: description`)} } } } } } } } } }`,
  },
};

function forErrors(postId: string): Table {
  return {
    "500 errors behind empty lines": {
      query: `{ ${"\n".repeat(90_000)} ${many(320, (index) => `a${index}: postsConnection(after: "x", first: 1) { edges { cursor } }`)} }`,
    },
    "unknown fields with long names": {
      query: `{ ${many(120, (index) => `${longName}${index}`)} }`,
    },
    "unknown fields": { query: `{ ${many(999, (index) => `postz${index}`)} }` },
    "fields in conflict": {
      query: `{ ${many(45, (index) => `posts { ${many(18, (inner) => `a${inner}: ${["id", "title", "body", "status"][(index + inner) % 4]}`)} }`)} }`,
    },
    "a long literal of a wrong type": { query: `{ posts(limit: "${"9".repeat(maxLength - 100)}") { id } }` },
    "a missing scope in many places below long names": {
      query: `{ post(id: "${postId}") { ${longName}: author { ${many(300, (index) => `a${index}: posts { author { id } }`)} } } }`,
    },
  };
}

const page = (count: number): string =>
  `query ($f: PostFilter) { ${many(count, (index) => `a${index}: postsConnection(first: 1, filter: $f) { edges { cursor } }`)} }`;
const creation = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }";

const forVariables: Table = {
  "a long list for many filters": {
    query: page(320),
    variables: { f: { authorId: list(9_900, (index) => `u${index}`) } },
  },
  "a long list of wrong values": { query: page(1), variables: { f: { status: list(9_900, () => "u") } } },
  "many unknown members": {
    query: creation,
    variables: { input: Object.fromEntries(list(9_900, (index) => [`u${index}`, 1])) },
  },
  "a long list in a document": {
    query: `{ postsConnection(filter: { authorId: [${many(9_000, () => '"u"')}] }) { edges { cursor } } }`,
  },
  "a long cursor for many pages": {
    query: `query ($c: String) { ${many(320, (index) => `a${index}: postsConnection(after: $c, first: 1) { edges { cursor } }`)} }`,
    variables: { c: "x".repeat(900_000) },
  },
  "many mutations of a text that is too long": {
    query: `mutation ($i: CreatePostInput!) { ${many(100, (index) => `a${index}: createPost(input: $i) { id }`)} }`,
    variables: { i: { title: "T", body: "y".repeat(900_000) } },
  },
};
