// GraphiQL as texts. The published package has them in a file of its own instead (packages/portico/pack.ts), because the
// package installs 31 others, for a server that Portico does not use.

export {
  css,
  editorWorkerService,
  graphqlWorker,
  js,
  jsonWorker,
} from "@graphql-yoga/render-graphiql/graphiql";
