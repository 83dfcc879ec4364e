// The one-way imports of the tree; `npm run check:imports` checks them.

const source = "packages/portico/src";

/** Folders, and `server.ts`, lowest first. Each imports itself and those before it, and nothing else. */
const order = [
  "lib",
  "net",
  "declare",
  "model",
  "query",
  "store",
  "jobs",
  "events",
  "files",
  "mail",
  "auth",
  "limits",
  "engine",
  "versions",
  "usage",
  "idempotency",
  "subscriptions",
  "webhooks",
  "handlers",
  "schedules",
  "api",
  "event-log",
  "imports",
  "file-transfer",
  "rest",
  "routes",
  "exports",
  "graphql",
  "oauth",
  "openapi",
  "mcp",
  "reference-pages",
  "http",
  "runtime",
  "server",
  "cli",
];

/** Protocols know nothing of each other. */
const protocols = ["rest", "graphql", "mcp", "oauth"];

/** What these do with rows goes through the engine. */
const withoutStorage = ["rest", "routes", "graphql", "mcp"];
const storage = ["store", "jobs", "mail", "auth", "limits"];

const layers = Object.fromEntries(
  order.map((folder, index) => {
    const below = order.slice(0, index);
    const others = [
      ...(protocols.includes(folder) ? protocols : []),
      ...(withoutStorage.includes(folder) ? storage : []),
    ];
    return [folder, below.filter((each) => !others.includes(each))];
  }),
);

/** Packages that users install if they need them. */
const optionalPeers = "^node_modules/@modelcontextprotocol/server/";

/** Where programs begin. */
const entries = `^${source}/(?:cli/portico|index|.*-(?:thread|process))\\.ts$`;

/** A layer may import itself, what is listed for it, and the catalogue of errors, which lies below all. */
const oneWay = Object.entries(layers).map(([layer, below]) => ({
  name: `one-way-${layer}`,
  comment: `${layer}/ imports only ${[...below, "errors.ts"].join(", ")}.`,
  severity: "error",
  from: { path: `^${source}/${layer}(?:/|\\.ts$)`, pathNot: "/module\\.ts$" },
  to: {
    path: `^${source}/`,
    pathNot: `^${source}/(?:(?:${[layer, ...below].join("|")})(?:/|\\.ts$)|errors\\.ts$)`,
  },
}));

module.exports = {
  forbidden: [
    ...oneWay,
    {
      name: "modules-for-compose",
      comment:
        "The module.ts of a capability uses every folder below runtime/, and only compose.ts imports it.",
      severity: "error",
      from: { pathNot: `^${source}/runtime/` },
      to: { path: `^${source}/.+/module\\.ts$`, pathNot: `^${source}/runtime/module\\.ts$` },
    },
    {
      name: "modules-below-compose",
      comment: "Of runtime/, a module.ts uses the settings, the secrets and the types of modules.",
      severity: "error",
      from: { path: `^${source}/.+/module\\.ts$`, pathNot: `^${source}/runtime/` },
      to: {
        path: `^${source}/(?:cli/|server\\.ts$|index\\.ts$|runtime/)`,
        pathNot: `^${source}/runtime/(?:settings/|module\\.ts$|email-settings\\.ts$|secrets\\.ts$)`,
      },
    },
    {
      name: "no-http-as-module",
      comment:
        "Imported as an ES module, node:http loads Node's own fetch, 3 MB of heap. Use process.getBuiltinModule.",
      severity: "error",
      from: { path: `^${source}/` },
      to: { path: "^(?:node:)?http$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "errors-lowest",
      comment: "errors.ts lies below everything.",
      severity: "error",
      from: { path: `^${source}/errors\\.ts$` },
      to: { path: "." },
    },
    {
      name: "public-api-exports",
      comment: "index.ts only exports what projects declare and serve with, and checks the version of Node.",
      severity: "error",
      from: { path: `^${source}/index\\.ts$` },
      to: {
        pathNot: `^packages/portico/bin/supported-node\\.js$|^${source}/(?:declare/|errors\\.ts$|server\\.ts$|runtime/embedded-server\\.ts$|auth/users/(?:resource|extension)\\.ts$)`,
      },
    },
    {
      name: "no-import-of-index",
      comment: "Inside, what is needed is imported from where it is, not from the public API.",
      severity: "error",
      from: { path: `^${source}/` },
      to: { path: `^${source}/index\\.ts$` },
    },
    {
      name: "service-uses-public-api",
      comment: "service/ and portico.config.ts are written as any project would be.",
      severity: "error",
      from: { path: "^(?:service/|portico\\.config\\.ts$)" },
      to: { pathNot: `^(?:service/|${source}/index\\.ts$)` },
    },
    {
      name: "tracker-uses-public-api",
      comment: "examples/tracker is a project of its own.",
      severity: "error",
      from: { path: "^examples/tracker/" },
      to: {
        pathNot: `^(?:examples/tracker/|${source}/index\\.ts$|packages/portico/client/index\\.ts$)`,
        dependencyTypesNot: ["core"],
      },
    },
    {
      name: "create-portico-stands-alone",
      comment: "create-portico runs before anything is installed, on any Node from 20 on.",
      severity: "error",
      from: { path: "^packages/create-portico/(?:bin|src)/" },
      to: { pathNot: "^packages/create-portico/src/", dependencyTypesNot: ["core"] },
    },
    {
      name: "templates-use-public-api",
      comment: "A template is a project of its own.",
      severity: "error",
      from: { path: "^packages/create-portico/templates/([^/]+)/" },
      to: {
        pathNot: `^(?:packages/create-portico/templates/$1/|${source}/index\\.ts$|packages/portico/client/index\\.ts$)`,
        dependencyTypesNot: ["core"],
      },
    },
    {
      name: "examples-stand-alone",
      comment: "Examples know Portico by its address only, and nothing of each other.",
      severity: "error",
      from: { path: "^examples/([^/]+)/", pathNot: "^examples/tracker/" },
      to: { pathNot: "^(?:examples/$1/|node_modules/)", dependencyTypesNot: ["core"] },
    },
    {
      name: "client-stands-alone",
      comment: "The client runs in browsers: it uses the types of declarations, and no other code.",
      severity: "error",
      from: { path: "^packages/portico/client/" },
      to: {
        pathNot: "^packages/portico/(?:client/|src/declare/)",
      },
    },
    {
      name: "client-imports-types",
      comment: "Of the declarations it uses the types.",
      severity: "error",
      from: { path: "^packages/portico/client/" },
      to: { path: "^packages/portico/src/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "server-stands-alone",
      comment: "The server knows nothing of the service it runs, of its tests or of its measurements.",
      severity: "error",
      from: { path: `^${source}/` },
      to: { path: "^(?:service/|bench/|examples/|portico\\.config\\.ts$|packages/[^/]+/(?:test|client)/)" },
    },
    {
      name: "no-circular",
      comment: "Types may refer to each other; code that runs may not.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-orphan",
      comment: "A file that nothing imports is a program or dead weight.",
      severity: "error",
      from: {
        orphan: true,
        pathNot: [
          "\\.test\\.ts$",
          "\\.d\\.ts$",
          "^bench/",
          "^examples/",
          "^packages/create-portico/templates/",
          // The runner of the tests imports it into each process.
          "^packages/portico/test/support/time-limit\\.ts$",
        ],
      },
      to: {},
    },
    {
      name: "not-unreachable",
      comment:
        "Every file of src is reached from the command line, the public API or the first file of a thread or process.",
      severity: "error",
      from: { path: entries },
      to: { path: `^${source}/`, pathNot: `${entries}|/browser/`, reachable: false },
    },
    {
      name: "only-own-dependencies",
      comment:
        "The server imports packages of its own package.json. Of the development ones, the published package contains " +
        "the texts of GraphiQL.",
      severity: "error",
      from: { path: `^${source}/`, pathNot: "/graphiql-texts\\.ts$" },
      to: {
        dependencyTypes: ["npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "npm-unknown"],
        pathNot: optionalPeers,
      },
    },
    {
      name: "resolvable",
      comment: "Every import leads somewhere. The packages of bench/rivals are installed only for measuring.",
      severity: "error",
      from: { pathNot: "^bench/rivals/" },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // It reads TypeScript as it stands, type imports included.
    parser: "swc",
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
